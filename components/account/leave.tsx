import { signOut } from 'next-auth/react';

/** Ends the session; the full page load clears its data from the browser's memory. */
export async function leave(): Promise<void> {
  await signOut({ redirect: false });
  window.location.assign('/sign-in');
}
