import { crc32 } from 'node:zlib';

/** A message of AWS's binary event stream, written from its description. */
export function eventMessage(headers: Readonly<Record<string, string>>, payload: string | Buffer): Buffer {
  const body = Buffer.from(payload);
  const head = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const [key, text] = [Buffer.from(name), Buffer.from(value)];
      const length = Buffer.alloc(2);
      length.writeUInt16BE(text.length);
      return Buffer.concat([Buffer.from([key.length]), key, Buffer.from([7]), length, text]);
    }),
  );
  const message = Buffer.alloc(16 + head.length + body.length);
  message.writeUInt32BE(message.length, 0);
  message.writeUInt32BE(head.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  head.copy(message, 12);
  body.copy(message, 12 + head.length);
  message.writeUInt32BE(crc32(message.subarray(0, -4)), message.length - 4);
  return message;
}

/** An event of Anthropic as Bedrock sends it. */
export function chunkMessage(event: object): Buffer {
  const bytes = Buffer.from(JSON.stringify(event)).toString('base64');
  return eventMessage(
    { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' },
    JSON.stringify({ bytes, p: 'abcdefgh' }),
  );
}
