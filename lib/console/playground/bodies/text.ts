import {
  type Attachment,
  type Draft,
  dataUrl,
  given,
  type Json,
  type Turn,
  typedNumber,
} from '#lib/console/playground/draft';

type Body = { readonly [name: string]: Json };

const isImage = ({ mediaType }: Attachment) => mediaType.startsWith('image/');
const isAudio = ({ mediaType }: Attachment) => mediaType.startsWith('audio/');

/** The conversation as messages; text without files stays a string, which is what most clients send. */
function messagesOf(turns: readonly Turn[], partOf: (file: Attachment) => Json, textType = 'text'): Json[] {
  return turns.map((turn) => {
    if (turn.role === 'assistant' || turn.files.length === 0) return { role: turn.role, content: turn.text };
    const text = turn.text === '' ? [] : [{ type: textType, text: turn.text }];
    return { role: 'user', content: [...turn.files.map(partOf), ...text] };
  });
}

export function chatBody({ model, turns, settings }: Draft): Body {
  const system = settings.system.trim();
  return given({
    model,
    messages: [...(system ? [{ role: 'system', content: system }] : []), ...messagesOf(turns, chatPart)],
    temperature: typedNumber(settings.temperature),
    max_completion_tokens: typedNumber(settings.maxTokens),
    ...(settings.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  });
}

function chatPart(file: Attachment): Json {
  if (isImage(file)) return { type: 'image_url', image_url: { url: dataUrl(file) } };
  if (isAudio(file)) {
    const format = /wav/.test(file.mediaType) ? 'wav' : 'mp3';
    return { type: 'input_audio', input_audio: { data: file.base64, format } };
  }
  return { type: 'file', file: { filename: file.name, file_data: dataUrl(file) } };
}

export function responsesBody({ model, turns, settings }: Draft): Body {
  const [first, ...others] = turns;
  const plain = first?.role === 'user' && first.files.length === 0 && others.length === 0;
  return given({
    model,
    instructions: settings.system.trim() || undefined,
    input: plain ? first.text : messagesOf(turns, responsesPart, 'input_text'),
    temperature: typedNumber(settings.temperature),
    max_output_tokens: typedNumber(settings.maxTokens),
    stream: settings.stream || undefined,
  });
}

function responsesPart(file: Attachment): Json {
  return isImage(file)
    ? { type: 'input_image', image_url: dataUrl(file) }
    : { type: 'input_file', filename: file.name, file_data: dataUrl(file) };
}

/** The protocol requires an output budget. */
const messagesBudget = 1024;

export function messagesBody({ model, turns, settings }: Draft): Body {
  return given({
    model,
    max_tokens: typedNumber(settings.maxTokens) ?? messagesBudget,
    system: settings.system.trim() || undefined,
    messages: messagesOf(turns, messagesPart),
    temperature: typedNumber(settings.temperature),
    stream: settings.stream || undefined,
  });
}

function messagesPart(file: Attachment): Json {
  const source = { type: 'base64', media_type: file.mediaType, data: file.base64 };
  return isImage(file) ? { type: 'image', source } : { type: 'document', source, title: file.name };
}

/** The model is in the address. */
export function generateContentBody({ turns, settings }: Draft): Body {
  const system = settings.system.trim();
  const config = given({
    temperature: typedNumber(settings.temperature),
    maxOutputTokens: typedNumber(settings.maxTokens),
  });
  return given({
    ...(system ? { systemInstruction: { parts: [{ text: system }] } } : {}),
    contents: turns.map((turn) =>
      turn.role === 'assistant'
        ? { role: 'model', parts: [{ text: turn.text }] }
        : {
            role: 'user',
            parts: [
              ...turn.files.map(({ mediaType, base64 }) => ({
                inlineData: { mimeType: mediaType, data: base64 },
              })),
              { text: turn.text },
            ],
          },
    ),
    generationConfig: Object.keys(config).length > 0 ? config : undefined,
  });
}
