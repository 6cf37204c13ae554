import { describe, expect, it } from 'vitest';
import { moved } from '#lib/control/operations/provider/set';

describe('a provider’s new address', () => {
  it('applies to all protocols at the old one, and to the host of those at another path', () => {
    const families = {
      chat: 'https://api.example.com/v1',
      embeddings: 'https://api.example.com/v1',
      messages: 'https://api.example.com/anthropic/v1',
      responses: 'https://other.example.com/v1',
      images: { env: 'IMAGES_URL' },
    };
    expect(moved(families, 'http://10.0.0.5:8000/api/v1/')).toEqual({
      chat: 'http://10.0.0.5:8000/api/v1',
      embeddings: 'http://10.0.0.5:8000/api/v1',
      messages: 'http://10.0.0.5:8000/anthropic/v1',
      responses: 'https://other.example.com/v1',
      images: { env: 'IMAGES_URL' },
    });
  });

  it('is refused if the address is in a variable', () => {
    expect(() => moved({ chat: { env: 'URL' } }, 'https://a.example.com')).toThrow('variable');
  });
});
