import { Counter, type Registry } from 'prom-client';

interface CounterFacts {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  /** Called at each scrape. */
  read(): readonly (readonly [labels: Readonly<Record<string, string>>, count: number])[];
}

/** Registers a counter whose samples are read at each scrape. */
export function registerCounter(registry: Registry, { name, help, labelNames = [], read }: CounterFacts) {
  new Counter({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      for (const [labels, count] of read()) this.inc(labels, count);
    },
  });
}
