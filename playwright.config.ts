import { defineConfig } from 'playwright/test';

const asRoot = process.getuid?.() === 0;

/** The console in the system's Chromium, against a real gateway that tests/console/start-gateway starts. */
export default defineConfig({
  testDir: 'tests/console',
  testMatch: '**/*.spec.ts',
  globalSetup: './tests/console/start-gateway.ts',
  outputDir: 'test-results',
  // They wait as much as they work, for pages and the gateway: with two, a core is idle at times.
  workers: 4,
  fullyParallel: true,
  // They end a hang: a busy machine takes minutes for what takes seconds.
  timeout: 600_000,
  expect: { timeout: 120_000 },
  reporter: [['list']],
  use: {
    ...(process.env.CONSOLE_URL ? { baseURL: process.env.CONSOLE_URL } : {}),
    locale: 'en-GB',
    // Not the workspaces' zone: what the console shows must not depend on the browser's.
    timezoneId: 'America/New_York',
    contextOptions: { reducedMotion: 'reduce' },
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [
        ...(asRoot ? ['--no-sandbox'] : []),
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-default-apps',
        '--disable-domain-reliability',
        '--disable-sync',
        '--no-first-run',
      ],
    },
  },
});
