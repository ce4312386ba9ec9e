/** How entities are drawn. */
import { NodeCircleProgram, NodePointProgram } from "sigma/rendering";
import type { EdgeData, NodeData } from "./graph";

type Render = { pickProgram: unknown };

/** Every frame is drawn twice, the second time for what is under the pointer. While it moves, nobody asks. */
export function dots(isMoving: () => boolean) {
  function once(program: Render, draw: () => void): void {
    const { pickProgram } = program;
    if (isMoving()) program.pickProgram = null;
    draw();
    program.pickProgram = pickProgram;
  }

  class Circles extends NodeCircleProgram<NodeData, EdgeData> {
    override render(params: Parameters<NodeCircleProgram["render"]>[0]): void {
      once(this, () => super.render(params));
    }
  }
  /** For thousands: one vertex each, instead of three. */
  class Points extends NodePointProgram<NodeData, EdgeData> {
    override render(params: Parameters<NodePointProgram["render"]>[0]): void {
      once(this, () => super.render(params));
    }
  }
  return { circle: Circles, point: Points };
}
