/** What the server says about itself: the numbers that fading goes by. */
import { api, got, type Schemas } from "./api";

class About {
  half_life_days = $state(30);
  prune_threshold = $state(0.05);
  all = $state<Schemas["About"]>();
}

export const about = new About();

export async function learn(): Promise<void> {
  const told = await got(api.GET("/api/about")).catch(() => undefined);
  if (!told) return;
  about.all = told;
  about.half_life_days = told.half_life_days;
  about.prune_threshold = told.prune_threshold;
}
