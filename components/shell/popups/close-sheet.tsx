import { createContext } from 'react';

/** Closes the sheet that contains the sidebar; undefined: the sidebar is not in a sheet. */
export const CloseSheet = createContext<(() => void) | undefined>(undefined);
