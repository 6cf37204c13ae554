import type { IncomingMessage, ServerResponse } from 'node:http';
import { speech } from '#tools/sandbox/audio/speech';
import { transcription } from '#tools/sandbox/audio/transcription';
import { batchesOf } from '#tools/sandbox/batches';
import { chat } from '#tools/sandbox/chat';
import { completions } from '#tools/sandbox/completions';
import { ProviderMemory } from '#tools/sandbox/content/memory';
import { PrefixCache } from '#tools/sandbox/content/prefix-cache';
import {
  type Dialect,
  freeOfCharge,
  type Opened,
  type ReceivedRequest,
  type Truth,
} from '#tools/sandbox/dialect';
import { embedContent } from '#tools/sandbox/embed-content';
import { files } from '#tools/sandbox/files';
import { generateContent } from '#tools/sandbox/generate-content';
import { images } from '#tools/sandbox/images';
import { embeddings, moderations, rerank } from '#tools/sandbox/input-only';
import { messages } from '#tools/sandbox/messages';
import { getModel, modelList } from '#tools/sandbox/models';
import { responses } from '#tools/sandbox/responses';
import type { RunningAnswers } from '#tools/sandbox/running-answers';
import { findDirective, parseName } from '#tools/sandbox/scenario/name';
import { type Scenario, Scenarios } from '#tools/sandbox/scenario/plan';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';
import type { End, TruthLog } from '#tools/sandbox/truth-log';
import { videos } from '#tools/sandbox/videos';
import { answerHeaders } from '#tools/sandbox/wire/answer-headers';
import { type Delivery, deliver } from '#tools/sandbox/wire/deliver';
import { Outlet } from '#tools/sandbox/wire/outlet';
import { readSeen } from '#tools/sandbox/wire/read-seen';
import { sendInstead } from '#tools/sandbox/wire/send-instead';

/** The families of the simulated provider; the first one also answers what fits none of them. */
const dialects: readonly [Dialect, ...Dialect[]] = [
  chat,
  responses,
  messages,
  images,
  videos,
  generateContent,
  completions,
  embeddings,
  embedContent,
  rerank,
  moderations,
  speech,
  transcription,
  files,
  batchesOf([chat, responses, completions, embeddings, moderations]),
];

interface Settings {
  readonly truth: TruthLog;
  readonly key: string | null;
  readonly paceMs: number;
  readonly running: RunningAnswers;
}

/** What is known about a request so far; the truth log gets it, even after an error. */
interface Course {
  opened: Opened | null;
  scenario: Scenario | null;
  charged: Truth;
  delivery: Delivery | null;
  end: End;
}

/** The provider's part of one server: everything that is not under `/_`. */
export function serveProvider({ truth, key, paceMs, running }: Settings) {
  const scenarios = new Scenarios(paceMs);
  const cache = new PrefixCache();
  const memory = new ProviderMemory();

  async function answerSeen(
    outlet: Outlet,
    seen: ReceivedRequest,
    dialect: Dialect,
    course: Course,
  ): Promise<void> {
    const headers = answerHeaders(seen);
    if (seen.method === 'GET' && seen.path === '/models') {
      return sendJson(outlet, 200, JSON.stringify(modelList()), headers);
    }
    if (!dialect.handles(seen.method, seen.path, seen.headers)) {
      throw new ProviderFault(404, `Invalid URL (${seen.method} /v1${seen.path})`);
    }
    const opened = dialect.open(seen, cache, memory);
    course.opened = opened;
    const { base } = parseName(opened.model);
    getModel(base);
    const asked = opened.asked ?? findDirective(opened.prompt) ?? opened.model;
    course.scenario = scenarios.plan(asked, seen.headers['x-sandbox-pace']);
    const { behaviour } = course.scenario;
    await outlet.stall(behaviour.firstByteMs);
    const allHeaders = { ...headers, ...behaviour.headers };
    if (behaviour.instead) {
      course.end = 'fault';
      return sendInstead(outlet, behaviour.instead, dialect, allHeaders);
    }
    const answer = opened.answer(base, behaviour);
    course.charged = answer.truth;
    course.delivery = await deliver(outlet, answer, { behaviour, dialect, headers: allHeaders });
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const outlet = new Outlet(response);
    const { seen, whole } = await readSeen(request);
    running.add(outlet, seen);
    truth.begin(seen);
    const dialect = dialects.find((one) => one.handles(seen.method, seen.path, seen.headers)) ?? dialects[0];
    const course: Course = {
      opened: null,
      scenario: null,
      charged: freeOfCharge,
      delivery: null,
      end: 'completed',
    };
    try {
      if (!whole) return;
      if (key !== null) checkKey(seen, dialect, key);
      await answerSeen(outlet, seen, dialect, course);
    } catch (error) {
      if (!(error instanceof ProviderFault)) throw error;
      course.end = 'refused';
      await sendJson(outlet, error.status, dialect.errorBody(error), answerHeaders(seen));
    } finally {
      running.end(outlet);
      const { opened, scenario, charged, delivery } = course;
      const goneAtMs = outlet.goneAtMs ?? (whole ? null : Date.now());
      truth.end(
        {
          ...charged,
          id: seen.id,
          at: new Date().toISOString(),
          family: dialect.handles(seen.method, seen.path, seen.headers) ? dialect.id : null,
          model: opened?.model ?? null,
          fault: scenario?.name.fault ?? null,
          stream: opened?.stream ?? false,
          outputTokens: delivery?.outputTokens ?? 0,
          status: outlet.status,
          end: goneAtMs !== null ? 'client_gone' : delivery?.faulted ? 'fault' : course.end,
          abortedAt: goneAtMs === null ? null : new Date(goneAtMs).toISOString(),
          durationMs: Math.round(Date.now() - seen.atMs),
          chunksSent: delivery?.chunksSent ?? 0,
          bytesSent: outlet.bytesSent,
          usageReported: delivery?.usageReported ?? null,
        },
        outlet.sent,
      );
    }
  };
}

async function sendJson(
  outlet: Outlet,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>>,
) {
  const body = Buffer.from(text);
  outlet.start(status, {
    ...headers,
    'content-type': 'application/json',
    'content-length': String(body.length),
  });
  await outlet.write(body, null);
  await outlet.end();
}

/** If the protocol has its own header, the key may also be a bearer token, as other vendors of the protocol allow. */
function checkKey({ headers }: ReceivedRequest, { keyHeader }: Dialect, key: string): void {
  const given = (keyHeader && headers[keyHeader]) ?? headers.authorization?.replace(/^Bearer /, '');
  if (given === key) return;
  throw new ProviderFault(401, 'Incorrect API key provided.', 'invalid_api_key');
}
