/** An email as people read it. */
export interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The link to open; a process that cannot send email prints it. */
  readonly link: string | null;
}

/** The parts of a letter in reading order. */
export interface Draft {
  readonly to: string;
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** Below the paragraphs: names with their values. */
  readonly figures?: readonly { readonly name: string; readonly value: string }[];
  readonly action?: { readonly label: string; readonly link: string };
  /** Small print below the action: how long it is valid, and what to do if it was not requested. */
  readonly notes: readonly string[];
}

/**
 * Every email looks the same: plain text, and the same words in plain HTML without pictures. Names and addresses in it
 * are untrusted.
 */
export function writeLetter({ to, subject, paragraphs, figures = [], action, notes }: Draft): Letter {
  const text = [
    ...paragraphs,
    ...(figures.length > 0 ? [figures.map(({ name, value }) => `${name}: ${value}`).join('\n')] : []),
    ...(action ? [`${action.label}:\n${action.link}`] : []),
    ...notes,
    '-- \nModel Gateway',
  ].join('\n\n');
  const said = paragraphs.map((one) => paragraph(one, 'margin:0 0 16px'));
  const rows = figures
    .map(
      ({ name, value }) =>
        `<tr><th scope="row" style="${cellStyle};font-weight:600">${escaped(name)}</th><td style="${cellStyle}">${escaped(value)}</td></tr>`,
    )
    .join('');
  const noted = notes.map((one) => paragraph(one, 'margin:0 0 8px;color:#5b6b6f;font-size:13px'));
  const asked = action
    ? [
        `<p style="margin:24px 0"><a href="${escaped(action.link)}" style="${buttonStyle}">${escaped(action.label)}</a></p>`,
        paragraph('Or copy this link into your browser:', 'margin:0 0 4px;color:#5b6b6f;font-size:13px'),
        `<p style="margin:0 0 20px;font-size:13px;word-break:break-all">${escaped(action.link)}</p>`,
      ]
    : [];
  const html = [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">',
    `<title>${escaped(subject)}</title></head><body style="margin:0;padding:24px">`,
    `<div style="${frameStyle}"><p style="margin:0 0 24px;font-weight:600">Model Gateway</p>`,
    ...said,
    ...(figures.length > 0
      ? [`<table style="margin:0 0 16px;border-collapse:collapse">${rows}</table>`]
      : []),
    ...asked,
    ...noted,
    '</div></body></html>',
  ].join('\n');
  return { to, subject, text: `${text}\n`, html, link: action?.link ?? null };
}

const frameStyle =
  "max-width:480px;margin:0 auto;font:15px/1.6 -apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const cellStyle = 'padding:4px 16px 4px 0;text-align:left;vertical-align:top';
const buttonStyle =
  'display:inline-block;padding:10px 18px;border-radius:6px;background:#0f766e;color:#ffffff;text-decoration:none;font-weight:600';

function paragraph(text: string, style: string): string {
  return `<p style="${style}">${escaped(text)}</p>`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (one) => entities[one] ?? one);
}
