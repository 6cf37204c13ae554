import type { BodyBudget } from '#lib/gateway/flow/body-budget';
import { Intake, type TakePiece } from '#lib/gateway/flow/upload/intake';
import type { BodyPace } from '#lib/gateway/flow/upload/pace';
import { lengthIn, RequestBody } from '#lib/gateway/flow/upload/request-body';

/** The body of a web request; the host discards what stays unread. */
export class WebBody extends RequestBody {
  readonly #request: Request;
  readonly #pace: BodyPace;
  #intake: Intake | null = null;

  constructor(request: Request, budget: BodyBudget, pace: BodyPace) {
    super(budget, request.body === null ? 0 : lengthIn(request.headers.get('content-length') ?? ''));
    this.#request = request;
    this.#pace = pace;
  }

  protected override receive(take: TakePiece): Intake {
    this.#intake = new WebIntake(this.#request, this.#pace, take);
    return this.#intake;
  }

  protected override isRead(): boolean {
    return this.#intake?.ended ?? !announcesBody(this.#request.headers);
  }
}

class WebIntake extends Intake {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor({ body }: Request, pace: BodyPace, take: TakePiece) {
    super(pace, take);
    this.#reader = body?.getReader();
    this.resume();
  }

  /** Nothing is read while a chunk is being consumed. */
  protected override pause(): void {}

  protected override resume(): void {
    this.#reader?.read().then(
      ({ done, value }) => {
        if (done) {
          this.end();
          return;
        }
        this.data(value);
        if (this.isOpen) this.resume();
      },
      () => this.closed(),
    );
  }

  protected override leave(): void {}
}

/** Whether the headers announce a body: hosts attach an empty one to any method but GET and HEAD. */
function announcesBody(headers: Headers): boolean {
  return headers.has('transfer-encoding') || !/^0*$/.test(headers.get('content-length') ?? '');
}
