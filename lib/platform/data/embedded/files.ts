/** What PGlite's file system offers of itself, as far as it is changed here. */
interface Files {
  chmod(file: unknown, mode: number, ...rest: unknown[]): void;
  open(path: unknown, flags: unknown, ...rest: unknown[]): unknown;
}

/** The file system gives each new file the mode that was asked for, whatever the umask says. */
export function keepPrivate(files: Files): void {
  const chmod = files.chmod.bind(files);
  files.chmod = (file, mode, ...rest) => chmod(file, mode & 0o700, ...rest);
}

/** A flag: the file is made when it is missing (O_CREAT). */
const makes = 0o100;
/** What opening a missing file says (ENOENT). */
const missing = 44;
const mostRemembered = 1000;

/**
 * A table or index without a map of its free space is asked for it whenever it grows by a page, and looking for a file
 * that is missing costs this file system a tenth of a millisecond. The database is the only one that makes files here:
 * a map that was missing stays so until it is opened to be made.
 */
export function rememberMissing(files: Files): void {
  const open = files.open.bind(files);
  const known = new Map<string, unknown>();
  files.open = (path, flags, ...rest) => {
    if (typeof path !== 'string' || !path.endsWith('_fsm')) return open(path, flags, ...rest);
    if (typeof flags !== 'number' || (flags & makes) !== 0) known.delete(path);
    else if (known.has(path)) throw known.get(path);
    try {
      return open(path, flags, ...rest);
    } catch (error) {
      if (isMissing(error)) {
        if (known.size >= mostRemembered) known.clear();
        known.set(path, error);
      }
      throw error;
    }
  };
}

function isMissing(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'errno' in error && error.errno === missing;
}
