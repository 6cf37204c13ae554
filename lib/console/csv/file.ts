/** One page of exported rows, and the cursor of the next one. */
export interface FilePage<Row> {
  readonly data: readonly Row[];
  readonly next: string | null;
}

/** The parts of an exported file. */
export interface FileParts<Row> {
  readonly head: string;
  line(row: Row): string;
  readonly first: FilePage<Row>;
  /** The page at a cursor; if it throws, the file breaks off. */
  more(after: string): Promise<FilePage<Row>>;
  /** Waits this many ms. */
  rest(ms: number): Promise<unknown>;
}

/**
 * The rows of a search as a file, read page by page as fast as the client accepts it. After each page, it
 * rests for as long as the page took, because the process also serves calls.
 */
export function csvFile<Row>({ head, line, first, more, rest }: FileParts<Row>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let start = head;
  let page = first;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        while (start === '' && page.data.length === 0 && page.next !== null) await turn();
        const lines = start + page.data.map(line).join('');
        start = '';
        if (lines !== '') controller.enqueue(encoder.encode(lines));
        if (page.next === null) controller.close();
        else await turn();
      },
      cancel() {
        page = { data: [], next: null };
      },
    },
    { highWaterMark: 1 },
  );

  /** A search may read many rows before it finds one, so a page may be empty without being the last. */
  async function turn(): Promise<void> {
    const { next } = page;
    if (next === null) return;
    const startedMs = performance.now();
    page = await more(next);
    await rest(performance.now() - startedMs);
  }
}

/** Headers of a streamed file, which must not be stored. @param name "calls-acme-2026-11-22.csv". */
export function fileHeaders(name: string): Record<string, string> {
  return {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name}"`,
    'cache-control': 'private, no-store',
    'x-accel-buffering': 'no',
  };
}
