/** Numbers and times as people read them. */

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const whole = new Intl.NumberFormat();
const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

export function ago(time: string | Date | null | undefined): string {
  if (!time) return "never";
  const seconds = (new Date(time).getTime() - Date.now()) / 1000;
  for (const [unit, size] of STEPS) {
    if (Math.abs(seconds) >= size) return relative.format(Math.round(seconds / size), unit);
  }
  return "just now";
}

/** A length of time, in its largest whole unit. */
export function duration(seconds: number): string {
  const [unit, size] = STEPS.find(([, one]) => seconds >= one) ?? (["second", 1] as const);
  return new Intl.NumberFormat(undefined, { style: "unit", unit, unitDisplay: "long" }).format(Math.floor(seconds / size));
}

export function moment(time: string | Date): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

export function day(time: string | Date): string {
  return new Date(time).toLocaleDateString(undefined, { dateStyle: "medium" });
}

export const count = (value: number): string => whole.format(value);
export const percent = (value: number): string => `${Math.round(value * 100)} %`;
export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

export function bytes(size: number): string {
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (size < 1000 || unit === "GB") return `${size < 10 && unit !== "B" ? size.toFixed(1) : Math.round(size)} ${unit}`;
    size /= 1000;
  }
  return "";
}

/** `memory_type` as words. */
export const words = (name: string): string => name.replaceAll("_", " ");
