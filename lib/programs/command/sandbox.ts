import { once } from 'node:events';
import { type Command, CommandRefused } from '#lib/programs/command/command';
import { startSandbox } from '#tools/sandbox/server';

export const sandbox: readonly Command[] = [
  {
    name: 'sandbox',
    usage: '[--port N] [--host H]',
    positionals: [],
    options: ['port', 'host'],
    required: [],
    run: async (_context, input) => {
      const port = Number(input.options.port ?? '4010');
      if (!Number.isInteger(port) || port < 0 || port > 65_535) {
        throw new CommandRefused('--port: must be a number from 0 to 65535; 0 takes any free port');
      }
      const { host } = input.options;
      const running = await startSandbox({ port, ...(host === undefined ? {} : { host }) }).catch(
        (error: Error) => {
          throw new CommandRefused(`cannot listen there (${error.message}); choose another --port or --host`);
        },
      );
      process.stderr.write(`the simulated provider is listening on ${running.url} (stop it with Ctrl-C)\n`);
      await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
      await running.close();
      return { json: { url: running.url }, text: 'stopped' };
    },
  },
];
