import { createContext } from 'react';

/** Closes the sheet in which a sidebar stands; undefined: it stands in no sheet. */
export const CloseSheet = createContext<(() => void) | undefined>(undefined);
