import { type StopHost, thisProcess } from '#lib/programs/process/stop';
import { hearPrimary } from '#lib/programs/process/workers/messages';

/**
 * How a worker is told to stop. Signals of a terminal, and of some service managers, reach every process of the group,
 * so only the primary acts on them. SIGTERM sent to one worker stops only that worker.
 * @param ordered called if the whole machine stops, not only this worker.
 */
export function workerSignals(ordered: () => void): StopHost {
  return {
    ...thisProcess,
    onSignal: (listener) => {
      let heard = 0;
      let told = false;
      for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
      process.on('SIGTERM', () => {
        heard += 1;
        if (!told || heard > 1) listener();
      });
      hearPrimary((word) => {
        if (word.gateway !== 'stop') return;
        ordered();
        if (!told && heard === 0) listener();
        told = true;
      });
    },
  };
}
