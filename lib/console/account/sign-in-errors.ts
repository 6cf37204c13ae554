/** Codes in the URL of the sign-in page that say why signing in failed; next-auth adds some of its own. */
export const signInErrors = {
  tooManyAttempts: 'TooManyAttempts',
  unavailable: 'Unavailable',
  unverifiedEmail: 'UnverifiedEmail',
  addressTaken: 'AddressTaken',
  signUpClosed: 'SignUpClosed',
} as const;
