import { parentPort, workerData } from 'node:worker_threads';
import { ExportLoop } from '#lib/programs/telemetry/export-loop';
import type { ExportTask, FromExporter, ToExporter } from '#lib/programs/telemetry/messages';

/** The program of the exporter's thread: reading, encoding and sending never wait on the thread that serves calls. */
const port = parentPort;
if (!port) throw new Error('this file is the program of a worker thread');
const loop = new ExportLoop(taskOf(workerData), (message: FromExporter) => port.postMessage(message));
port.on('message', (message: ToExporter) => loop.hear(message));
await loop.run();
port.close();

/** What `startExporter` passed. */
function taskOf(data: unknown): ExportTask {
  return data as ExportTask;
}
