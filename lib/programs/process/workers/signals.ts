import { type StopHost, thisProcess } from '#lib/programs/process/stop';
import { hearPrimary } from '#lib/programs/process/workers/messages';

/**
 * How a worker hears of its end. A terminal's signals reach every process of its group, and so do those of some service
 * managers: the primary alone says what they mean. SIGTERM sent to one worker stops that one in order.
 * @param ordered told that the whole machine stops, not this worker alone.
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
