/** An error that the operator can correct: its message says what to do, so that no stack trace is shown. */
export class OperatorError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}
