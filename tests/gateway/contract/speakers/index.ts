import type { Speaker } from '#tests/gateway/contract/speaker';
import { chatSpeakers } from '#tests/gateway/contract/speakers/chat';
import { contentSpeakers } from '#tests/gateway/contract/speakers/content';
import { imagesSpeakers } from '#tests/gateway/contract/speakers/images';
import { messagesSpeakers } from '#tests/gateway/contract/speakers/messages';
import { responsesSpeakers } from '#tests/gateway/contract/speakers/responses';

/** Every way to ask for an answer: one line a family. */
export const speakers: readonly Speaker[] = [
  ...chatSpeakers,
  ...responsesSpeakers,
  ...messagesSpeakers,
  ...contentSpeakers,
  ...imagesSpeakers,
];
