import type { IncomingMessage } from 'node:http';
import { type Refusal, Refused } from '#lib/core/errors';
import type { BodyBudget } from '#lib/gateway/flow/body-budget';
import { offUnreadable, onUnreadable } from '#lib/gateway/flow/framing';
import { dropRest } from '#lib/gateway/flow/upload/drop-rest';
import { Intake, type TakePiece } from '#lib/gateway/flow/upload/intake';
import type { BodyPace } from '#lib/gateway/flow/upload/pace';
import { lengthIn, RequestBody } from '#lib/gateway/flow/upload/request-body';

/** The body of a node:http request. */
export class NodeBody extends RequestBody {
  readonly #request: IncomingMessage;
  readonly #pace: BodyPace;

  constructor(request: IncomingMessage, budget: BodyBudget, pace: BodyPace) {
    super(budget, declaredLength(request));
    this.#request = request;
    this.#pace = pace;
  }

  /** After a refusal: a promise while the unread rest is being discarded; null when nothing is left. */
  finishDrop(): Promise<void> | null {
    return this.unread() ? dropRest(this.#request) : null;
  }

  protected override receive(take: TakePiece): Intake {
    return new NodeIntake(this.#request, this.#pace, take);
  }

  protected override isRead(): boolean {
    return this.#request.readableEnded || declaredLength(this.#request) === 0;
  }
}

class NodeIntake extends Intake {
  readonly #request: IncomingMessage;
  readonly #unreadable = (refused: Refusal) => this.fail(new Refused(refused));

  constructor(request: IncomingMessage, pace: BodyPace, take: TakePiece) {
    super(pace, take);
    this.#request = request;
    if (request.destroyed) {
      this.closed();
      return;
    }
    onUnreadable(request.socket, this.#unreadable);
    request.on('data', (chunk: Buffer) => this.data(chunk));
    request.on('end', () => this.end());
    request.on('close', () => this.closed());
  }

  protected override pause(): void {
    this.#request.pause();
  }

  protected override resume(): void {
    this.#request.resume();
  }

  /** The listeners stay attached and do nothing, because removing them costs more per call. */
  protected override leave(): void {
    offUnreadable(this.#request.socket, this.#unreadable);
  }
}

function declaredLength({ headers }: IncomingMessage): number | null {
  const length = headers['content-length'];
  if (length === undefined) return headers['transfer-encoding'] === undefined ? 0 : null;
  return lengthIn(length);
}
