import { describe, expect, it } from 'vitest';
import { opensLikeAnswer } from '#lib/gateway/upstream/opening';

const opens = (text: string) => opensLikeAnswer(Buffer.from(text));

describe('the first chunk of a 2xx answer (contract: routing/unreadable-answer)', () => {
  it.each([
    '{"id":',
    '[{"candidates":',
    '\n\n  {"id"',
    '\ufeff{"id"',
    'data: {"id"',
    'data:{"id"',
    'event: message_start\n',
    'id: 1\n',
    'retry: 100\r\n',
    ': OPENROUTER PROCESSING\n\n',
    ':',
    '\n\ndata: {}',
    '\ufeffdata: {}',
    'data\n',
  ])('%j begins JSON or an event stream', (text) => {
    expect(opens(text)).toBe(true);
  });

  it.each(['\n', ' \r\n\t', 'd', 'dat', 'data', 'e', 'i', 'retr'])('%j may still become one', (text) => {
    expect(opens(text)).toBe(true);
  });

  it('may end inside a byte order mark', () => {
    expect(opensLikeAnswer(Buffer.from([0xef, 0xbb]))).toBe(true);
  });

  it.each([
    '',
    '<!doctype html>',
    '\n<html>',
    '\ufeff<?xml version="1.0"?>',
    'Bad gateway',
    '502 Bad Gateway',
    '"Internal Server Error"',
    'error: upstream',
    'ok',
    'database is down',
    'identity',
    'null',
    '\0\0',
  ])('%j begins neither', (text) => {
    expect(opens(text)).toBe(false);
  });
});
