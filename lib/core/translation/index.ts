import { fields as chatFields } from '#lib/core/translation/chat/fields';
import { read as readChat } from '#lib/core/translation/chat/read';
import {
  createWriter as createChatWriter,
  writeWhole as writeWholeChat,
} from '#lib/core/translation/chat/write';
import type { ProtocolTranslation, TextProtocol } from '#lib/core/translation/conversation';
import type { FieldTable } from '#lib/core/translation/fates';
import { fields as contentFields } from '#lib/core/translation/generate-content/fields';
import { read as readContent } from '#lib/core/translation/generate-content/read';
import {
  createWriter as createContentWriter,
  writeWhole as writeWholeContent,
} from '#lib/core/translation/generate-content/write';
import { fields as messagesFields } from '#lib/core/translation/messages/fields';
import { read as readMessages } from '#lib/core/translation/messages/read';
import {
  createWriter as createMessagesWriter,
  writeWhole as writeWholeMessage,
} from '#lib/core/translation/messages/write';
import { fields as responsesFields } from '#lib/core/translation/responses/fields';
import { read as readResponses } from '#lib/core/translation/responses/read';
import {
  createWriter as createResponsesWriter,
  writeWhole as writeWholeResponse,
} from '#lib/core/translation/responses/write';

/** The client's side of a protocol, and what becomes of each field of its requests. */
export interface Translation extends ProtocolTranslation {
  readonly fields: FieldTable;
}

/** One line for each protocol that answers with text (contract: translation/protocols). */
export const translations: Readonly<Record<TextProtocol, Translation>> = {
  chat: {
    read: readChat,
    createWriter: createChatWriter,
    writeWhole: writeWholeChat,
    fields: chatFields,
  },
  responses: {
    read: readResponses,
    createWriter: createResponsesWriter,
    writeWhole: writeWholeResponse,
    fields: responsesFields,
  },
  messages: {
    read: readMessages,
    createWriter: createMessagesWriter,
    writeWhole: writeWholeMessage,
    fields: messagesFields,
  },
  'generate-content': {
    read: readContent,
    createWriter: createContentWriter,
    writeWhole: writeWholeContent,
    fields: contentFields,
  },
};
