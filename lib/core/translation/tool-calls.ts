import type { Field } from '#lib/core/translation/field';

interface OpenCall {
  /** Unlike those of all other calls of the conversation. */
  readonly id: string;
  /** As the client gave it, if it gave one. */
  readonly givenId?: string | undefined;
  readonly name: string;
  readonly at: Field;
}

/** The tool calls of a conversation that still wait for their results: the model cannot go on without them. */
export class ToolCalls {
  #open: OpenCall[] = [];

  call(call: OpenCall): void {
    this.#open.push(call);
  }

  waits(fits: (call: OpenCall) => boolean): boolean {
    return this.#open.some(fits);
  }

  /** Takes the first call that fits; null: none waits. */
  takeResult(fits: (call: OpenCall) => boolean): OpenCall | null {
    const call = this.#open.find(fits);
    if (!call) return null;
    this.#open = this.#open.filter((one) => one !== call);
    return call;
  }

  /** The model goes on, or the conversation ends. */
  close(): void {
    const [call] = this.#open;
    call?.at.refuse(`is a call of "${call.name}" without a result; send its result in the next turn.`);
  }
}
