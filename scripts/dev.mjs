// `npm run dev`: the server with Next in development mode, which builds pages as they are asked for.
import { launch } from './bootstrap.mjs';

await launch(['server.ts', '--dev'], { env: { NODE_ENV: 'development' } });
