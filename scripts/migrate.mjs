// `npm run migrate`: applies the migrations to DATABASE_URL, or to the embedded database of DATA_DIR.
import { launch } from './bootstrap.mjs';

await launch(['dist/migrate.js']);
