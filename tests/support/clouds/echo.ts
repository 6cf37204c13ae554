import { type Asked, type Given, given } from '#tests/support/clouds/books';

const text = (body: string): Given => ({ status: 200, headers: { 'content-type': 'text/plain' }, body });

/**
 * What an issuer answers that repeats the secret it was sent: as an error, or as text where JSON belongs.
 * @returns null: this request has no secret.
 */
export function echoed(what: string, { request, body }: Asked): Given | null {
  const { headers } = request;
  const form = new URLSearchParams(body.toString());
  switch (what) {
    case 'aws container token':
      return text(String(headers.authorization));
    case 'aws instance token':
      return text(String(headers['x-aws-ec2-metadata-token']));
    case 'aws sso token': {
      const message = `Session token ${headers['x-amz-sso_bearer_token']} not found or invalid`;
      return given(401, { message }, { 'x-amzn-errortype': 'UnauthorizedException' });
    }
    case 'entra token': {
      const proof = form.get('client_assertion');
      if (proof === null) return null;
      return given(401, { error: 'invalid_client', error_description: `AADSTS50027: ${proof} is not valid` });
    }
    case 'google token':
      return given(400, {
        error: 'invalid_grant',
        error_description: `The subject token ${form.get('subject_token')} is not accepted`,
      });
    default:
      return null;
  }
}
