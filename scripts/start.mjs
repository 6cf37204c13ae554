// `npm start`: prepares what is missing, then starts the server.
import { readFileSync } from 'node:fs';
import { launch } from './bootstrap.mjs';

// The bench starts it with the same ones; docs/decisions/hot-path.md says why.
const flags = JSON.parse(readFileSync(new URL('server-flags.json', import.meta.url), 'utf8'));

const withConsole = () => !/^(off|false|0|no)$/i.test(process.env.CONSOLE ?? '');
await launch([...flags, 'dist/server.js'], { build: withConsole, env: { NODE_ENV: 'production' } });
