// `npm run dev`: the server with Next in development mode, which builds pages on request.
import { launch } from './bootstrap.mjs';

await launch(['server.ts', '--dev'], { bundle: false, env: { NODE_ENV: 'development' } });
