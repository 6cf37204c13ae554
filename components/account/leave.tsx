import { signOut } from 'next-auth/react';

/** Ends the session; a full page load leaves nothing of it in the browser's memory. */
export async function leave(): Promise<void> {
  await signOut({ redirect: false });
  window.location.assign('/sign-in');
}
