import { existsSync, readFileSync } from 'node:fs';
import { type IncomingMessage, Server, type ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { type ConsoleHost, consoleEnvOf, setConsoleHost } from '#lib/console/host';
import { trustForwarded } from '#lib/platform/client-address';
import { type Env, exportForNextAuth, giveNextSettings, keepNextFromEnvFiles } from '#lib/platform/env/env';
import { ownVersion } from '#lib/platform/own-version';
import { isForGateway } from '#lib/programs/process/dispatch';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

/** The console's pages, and the web lane, behind this process's listener. */
export interface Pages {
  serve(request: IncomingMessage, response: ServerResponse): void;
  /** Lets Next see upgrades of connections, which its development mode needs. */
  attach(server: Server): void;
  close(): Promise<void>;
}

/**
 * Starts Next on its production build. Without a build or with CONSOLE=off the gateway still serves calls and the
 * management API, and what Next would answer says what to do.
 */
export async function openConsole(
  env: Env,
  {
    authSecrets,
    ...parts
  }: Pick<ConsoleHost, 'control' | 'throttle' | 'report'> & { readonly authSecrets: readonly string[] },
  log: Logger,
  dev: boolean,
): Promise<Pages> {
  if (!env.console) {
    return plainAnswer(
      404,
      'This process does not serve the console (CONSOLE=off). Use a process that does, or unset CONSOLE.',
    );
  }
  if (!dev && !existsSync(`${root}.next/BUILD_ID`)) {
    log.warn('the console has not been built: run npm start, which builds it');
    return plainAnswer(503, 'The console has not been built. Stop the gateway and run: npm start');
  }
  exportForNextAuth(env, env.port);
  setConsoleHost({
    ...parts,
    env: { ...consoleEnvOf(env, env.port, authSecrets), version: ownVersion() },
  });
  keepNextFromEnvFiles();
  if (!dev) giveNextSettings(settingsOfBuild());
  // Loaded late and after the gateway's own modules: Next changes globals such as Date.now.
  const { default: next } = await import('next');
  // With the first request that it serves, Next listens to the upgrades of this server. Of the one that it is behind, it
  // would end every WebSocket whose path has a route.
  const httpServer = new Server();
  const app = next({ dev, dir: root, hostname: env.host, port: env.port, httpServer });
  await app.prepare();
  const handle = app.getRequestHandler();
  return {
    serve: (request, response) => {
      trustForwarded(request, env.proxyHops);
      void handle(request, response);
    },
    attach: (server) => {
      if (!dev) return;
      const upgrade = app.getUpgradeHandler();
      server.on('upgrade', (request, socket, head) => {
        if (!isForGateway(request)) void upgrade(request, socket, head);
      });
    },
    close: async () => {
      setConsoleHost(null);
      await app.close();
    },
  };
}

/** The settings of `next.config.ts` when the console was built, with Next's defaults. */
function settingsOfBuild(): unknown {
  const written: { config: unknown } = JSON.parse(
    readFileSync(`${root}.next/required-server-files.json`, 'utf8'),
  );
  return written.config;
}

/** What answers in place of Next, with one line of text. */
function plainAnswer(status: number, text: string): Pages {
  return {
    serve: (_, response) => {
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
      response.end(`${text}\n`);
    },
    attach: () => {},
    close: async () => {},
  };
}
