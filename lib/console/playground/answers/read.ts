import {
  embeddingsPieces,
  moderationsPieces,
  rerankPieces,
  transcriptPieces,
} from '#lib/console/playground/answers/figures';
import { imagesEvent, imagesPieces } from '#lib/console/playground/answers/media';
import { faultIn, type Piece, parsed } from '#lib/console/playground/answers/piece';
import {
  chatPieces,
  contentPieces,
  messagesEvent,
  messagesPieces,
  responsesEvent,
  responsesPieces,
} from '#lib/console/playground/answers/text';
import type { PlaygroundFamily } from '#lib/console/playground/draft';

/** @param pictures how many finished ones came before. */
type Reader = (value: unknown, pictures: number) => Piece[];

/** How each protocol's events and whole answers are read. */
const readers: Readonly<Record<PlaygroundFamily, { readonly event: Reader; readonly answer: Reader }>> = {
  chat: { event: chatPieces, answer: chatPieces },
  responses: { event: responsesEvent, answer: responsesPieces },
  messages: { event: messagesEvent, answer: messagesPieces },
  'generate-content': { event: contentPieces, answer: contentPieces },
  images: { event: imagesEvent, answer: imagesPieces },
  videos: { event: () => [], answer: faultIn },
  speech: { event: () => [], answer: faultIn },
  transcriptions: { event: () => [], answer: transcriptPieces },
  embeddings: { event: () => [], answer: embeddingsPieces },
  rerank: { event: () => [], answer: rerankPieces },
  moderations: { event: () => [], answer: moderationsPieces },
};

/** The pieces of an event of a stream, by its `data`. @param pictures how many finished ones came before. */
export function piecesOfEvent(family: PlaygroundFamily, data: string, pictures: number): Piece[] {
  return readers[family].event(parsed(data), pictures);
}

/** The pieces of a whole answer. */
export function piecesOfAnswer(family: PlaygroundFamily, body: string): Piece[] {
  return readers[family].answer(parsed(body), 0);
}

/** Why a call was refused, from the body of an answer that is not 2xx. */
export function refusalIn(status: number, body: string): { code: string | null; message: string } {
  const [fault] = faultIn(parsed(body));
  if (fault?.kind === 'fault') return { code: fault.code, message: fault.message };
  const start = body.trim().slice(0, 300);
  return {
    code: null,
    message: start === '' || start.startsWith('<') ? `The answer was HTTP ${status}.` : start,
  };
}

/** An answer so far. */
export interface PlaygroundAnswer {
  readonly text: string;
  readonly thought: string;
  readonly pictures: readonly {
    readonly place: number;
    readonly source: string;
    readonly partial: boolean;
  }[];
  readonly links: readonly string[];
  readonly cut: boolean;
  readonly fault: { readonly code: string | null; readonly message: string } | null;
}

export const emptyAnswer: PlaygroundAnswer = {
  text: '',
  thought: '',
  pictures: [],
  links: [],
  cut: false,
  fault: null,
};

export function addPieces(answer: PlaygroundAnswer, pieces: readonly Piece[]): PlaygroundAnswer {
  return pieces.reduce(addPiece, answer);
}

function addPiece(answer: PlaygroundAnswer, piece: Piece): PlaygroundAnswer {
  switch (piece.kind) {
    case 'text':
      return { ...answer, text: answer.text + piece.text };
    case 'thought':
      return { ...answer, thought: answer.thought + piece.text };
    case 'picture': {
      const { source, partial, place } = piece;
      return { ...answer, pictures: [...answer.pictures.slice(0, place), { place, source, partial }] };
    }
    case 'link':
      return { ...answer, links: [...answer.links, piece.href] };
    case 'cut':
      return { ...answer, cut: true };
    case 'fault':
      return { ...answer, fault: { code: piece.code, message: piece.message } };
  }
}

/** How many pictures are finished, which is the place of the next one. */
export function finishedPictures({ pictures }: PlaygroundAnswer): number {
  return pictures.filter(({ partial }) => !partial).length;
}
