import { expect, it } from 'vitest';
import { writeLetter } from '#lib/control/mail/letter';

const draft = {
  to: 'ann@example.com',
  subject: 'Set a new password',
  paragraphs: ['Somebody asked.'],
  action: { label: 'Set it', link: 'https://gateway.example/reset?token=a_b-c' },
  notes: ['It works once.'],
};

it('a letter says the same in text and in HTML, with its link in both', () => {
  const { text, html, link } = writeLetter(draft);
  expect(text).toBe(
    'Somebody asked.\n\nSet it:\nhttps://gateway.example/reset?token=a_b-c\n\nIt works once.\n\n-- \nModel Gateway\n',
  );
  for (const said of ['Somebody asked.', 'Set it', 'It works once.', link ?? ''])
    expect(html).toContain(said);
  expect(html.match(/href="([^"]+)"/)?.[1]).toBe(link);
});

it('what strangers wrote is text in HTML, never markup', () => {
  const hostile = `"><img src=x onerror='alert(1)'>&amp;`;
  const { html } = writeLetter({ ...draft, subject: hostile, paragraphs: [hostile], notes: [hostile] });
  expect(html).not.toContain('<img');
  expect(html.split('&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;amp;')).toHaveLength(4);
});
