import { type Env, publicUrl } from '#lib/platform/env/env';
import type { FirstRun } from '#prisma/seed';

/** What a start prints: addresses, and on the first run how to make the first call (contract: operations/start). */
export function welcome(env: Env, firstRun: FirstRun | null, operatorLink: string | null): string {
  const url = publicUrl(env, env.port);
  const console = env.console ? [`  Console   ${url}`] : [];
  const lines = ['', `  Model Gateway is ready.`, ...console, `  Base URL  ${url}/v1`];
  if (firstRun) {
    lines.push(
      `  Sign in   ${firstRun.email} / ${firstRun.password}`,
      `  API key   ${firstRun.key}   (shown once; it belongs to the workspace "${firstRun.workspaceSlug}", which has $10)`,
      '',
      '  Make your first call:',
      '',
      `curl -i ${url}/v1/chat/completions -H "Authorization: Bearer ${firstRun.key}" -H "Content-Type: application/json" -d '{"model":"sandbox/echo","messages":[{"role":"user","content":"Hello"}]}'`,
      '',
      '  Then look it up: ./bin/gateway call show <X-Request-Id of the response>',
    );
  }
  if (operatorLink) {
    lines.push(
      '',
      '  There is no operator yet. Open this link to create the first one. It works once and expires in one hour:',
      '',
      operatorLink,
    );
  }
  return `${lines.join('\n')}\n\n`;
}
