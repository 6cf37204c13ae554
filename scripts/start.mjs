// `npm start`: whatever is missing first, then the server.
import { launch } from './bootstrap.mjs';

await launch(['server.ts'], { build: true, env: { NODE_ENV: 'production' } });
