// `npm start`: whatever is missing first, then the server.
import { launch } from './bootstrap.mjs';

// Calls leave much short-lived memory: with room for it, it is collected less often.
await launch(['--max-semi-space-size=64', 'server.ts'], { build: true, env: { NODE_ENV: 'production' } });
