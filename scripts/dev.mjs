// `npm run dev`: the server with Next in development mode, which builds pages on request.
import { launch } from './bootstrap.mjs';

await launch(['server.ts', '--dev'], { env: { NODE_ENV: 'development' } });
