import type {
  Freed,
  PermitAnswer,
  PermitRequest,
  WindowEntry,
} from '#lib/gateway/limits/pure/permit-request';

/** Redis' own clock, µs: no process's clock admits anything. */
export const redisClock = `local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])`;

/**
 * Carries out one permit request in Redis, as \`decidePermits\` decides it: everything at once or, for a turn that was
 * carried out before, nothing. KEYS: the workspace's own, then three for each subject: moments, weights, slots. All
 * have an expiry and the workspace's hash tag. ARGV: what \`encodePermitRequest\` writes; the answer is what
 * \`decodeAnswer\` reads.
 * @param clock sets \`now\`; only tests use another than Redis' own.
 */
export const limitScript = (clock: string): string => `${clock}
local WINDOW, PERMIT, SLOT = 60000000, 1000000, 20000000
local request = cjson.decode(ARGV[1])
local process, turn, knownEpoch, processes = request[1], request[2], request[3], request[4]
local subjects, calls = request[5], request[6]
local home = KEYS[1]
local function int(number) return string.format('%.0f', number) end
local function given(value) if value == cjson.null then return nil end return value end
local function lost(epoch)
  redis.call('PEXPIRE', home, 65000)
  return '{"epoch":"' .. epoch .. '","lost":true,"admitted":"","subjects":[]}'
end

local epoch = redis.call('HGET', home, 'epoch')
if not epoch then
  epoch = int(now)
  redis.call('HSET', home, 'epoch', epoch)
end
if given(knownEpoch) and knownEpoch ~= epoch then return lost(epoch) end
local before = redis.call('HGET', home, process)
if before then
  local lastTurn, lastAnswer = before:match('^(%d+) (.*)$')
  if tonumber(lastTurn) == turn then return lastAnswer end
  if tonumber(lastTurn) > turn then return lost(epoch) end
end

local function weightsOf(key, ids)
  local found = {}
  for first = 1, #ids, 500 do
    local part = {}
    for n = first, math.min(first + 499, #ids) do part[#part + 1] = ids[n] end
    for n, text in ipairs(redis.call('HMGET', key, unpack(part))) do
      local requests, tokens = 0, 0
      if text then
        local r, t = text:match('^(%d+):(%d+)$')
        requests, tokens = tonumber(r), tonumber(t)
      end
      found[first + n - 1] = { requests, tokens }
    end
  end
  return found
end
local function put(subject, id, at, requests, tokens)
  redis.call('ZADD', subject.at, int(at), id)
  redis.call('HSET', subject.weight, id, int(requests) .. ':' .. int(tokens))
end

-- What counts for each subject, once the news of this process are in.
local standing = {}
for i, asked in ipairs(subjects) do
  local subject = {
    at = KEYS[3 * i - 1], weight = KEYS[3 * i], slot = KEYS[3 * i + 1],
    rpm = given(asked[1]), tpm = given(asked[2]), concurrency = given(asked[3]),
    mine = asked[4], want = asked[7], slots = asked[4], refused = false, call = { 0, 0, 0 },
  }
  if redis.call('EXISTS', subject.at) == 0 then redis.call('DEL', subject.weight) end
  subject.requests = tonumber(redis.call('HGET', subject.weight, '.r') or 0)
  subject.tokens = tonumber(redis.call('HGET', subject.weight, '.t') or 0)
  for _, entry in ipairs(asked[5]) do
    local id, text = entry[1], redis.call('HGET', subject.weight, entry[1])
    if text then
      local r, t = text:match('^(%d+):(%d+)$')
      r, t = tonumber(r), tonumber(t)
      local requests, tokens = math.min(r, entry[2]), math.min(t, entry[3])
      subject.requests = subject.requests - r + requests
      subject.tokens = subject.tokens - t + tokens
      if requests == 0 and tokens == 0 then
        redis.call('ZREM', subject.at, id)
        redis.call('HDEL', subject.weight, id)
      else
        local was = tonumber(redis.call('ZSCORE', subject.at, id))
        put(subject, id, math.min(was, now - math.floor(entry[4] * 1000)), requests, tokens)
      end
    end
  end
  for _, entry in ipairs(asked[6]) do
    if redis.call('HEXISTS', subject.weight, entry[1]) == 0 then
      put(subject, entry[1], now - math.floor(entry[4] * 1000), entry[2], entry[3])
      subject.requests = subject.requests + entry[2]
      subject.tokens = subject.tokens + entry[3]
    end
  end
  local old = redis.call('ZRANGEBYSCORE', subject.at, '-inf', int(now - WINDOW))
  if #old > 0 then
    for n, weight in ipairs(weightsOf(subject.weight, old)) do
      subject.requests = subject.requests - weight[1]
      subject.tokens = subject.tokens - weight[2]
      redis.call('HDEL', subject.weight, old[n])
    end
    redis.call('ZREMRANGEBYSCORE', subject.at, '-inf', int(now - WINDOW))
  end
  local held = redis.call('HGETALL', subject.slot)
  for n = 1, #held, 2 do
    local count, till = held[n + 1]:match('^(%d+):(%d+)$')
    if tonumber(till) <= now then redis.call('HDEL', subject.slot, held[n])
    elseif held[n] ~= process then subject.slots = subject.slots + tonumber(count) end
  end
  standing[i] = subject
end

local function leaves(limit, total, weight)
  if not limit then return true end
  if weight > limit then return total == 0 end
  return total + weight <= limit
end
local function fits(subject, call)
  if call[3] > 0 and not leaves(subject.rpm, subject.requests, call[3]) then return false end
  if given(call[4]) and not leaves(subject.tpm, subject.tokens, call[4]) then return false end
  return call[5] == 0 or not subject.concurrency or subject.slots < subject.concurrency
end
local admitted = {}
for n, call in ipairs(calls) do
  local pair, whole = { standing[call[1] + 1], standing[call[2] + 1] }, true
  for _, subject in ipairs(pair) do
    if not fits(subject, call) then
      subject.refused = true
      whole = false
    end
  end
  admitted[n] = whole and '1' or '0'
  if whole then
    for _, subject in ipairs(pair) do
      local tokens = given(call[4]) or 0
      subject.requests, subject.tokens = subject.requests + call[3], subject.tokens + tokens
      subject.slots = subject.slots + call[5]
      subject.call = { subject.call[1] + call[3], subject.call[2] + tokens, subject.call[3] + call[5] }
    end
  end
end

local function grant(subject, limit, total, want)
  if not limit or subject.refused then return 0 end
  return math.max(0, math.min(want, math.floor(math.min(limit - total, limit / 20) / processes)))
end
local function grantSlots(subject)
  if not subject.concurrency or subject.refused then return 0 end
  local free = subject.concurrency - subject.slots
  return math.max(0, math.min(subject.want[3], math.floor(free / (2 * processes))))
end
local function room(limit, total)
  if not limit then return 'null' end
  return int(limit - total)
end
local function freed(subject)
  local ids, ats, sums, order = {}, {}, {}, {}
  local all = redis.call('ZRANGE', subject.at, 0, -1, 'WITHSCORES')
  for n = 1, #all, 2 do
    ids[#ids + 1] = all[n]
    ats[#ats + 1] = tonumber(all[n + 1])
  end
  for n, weight in ipairs(weightsOf(subject.weight, ids)) do
    local second = math.ceil((ats[n] + WINDOW - now) / 1000000)
    if weight[1] + weight[2] > 0 then
      if not sums[second] then
        sums[second] = { 0, 0 }
        order[#order + 1] = second
      end
      sums[second] = { sums[second][1] + weight[1], sums[second][2] + weight[2] }
    end
  end
  local parts = {}
  for n, second in ipairs(order) do
    parts[n] = '[' .. int(second) .. ',' .. int(sums[second][1]) .. ',' .. int(sums[second][2]) .. ']'
  end
  return '[' .. table.concat(parts, ',') .. ']'
end

local told = {}
for i, subject in ipairs(standing) do
  local requests = grant(subject, subject.rpm, subject.requests, subject.want[1])
  local tokens = grant(subject, subject.tpm, subject.tokens, subject.want[2])
  local slots = grantSlots(subject)
  if subject.call[1] + subject.call[2] + requests + tokens > 0 then
    local at = requests + tokens > 0 and now + PERMIT or now
    put(subject, process .. '.' .. int(turn), at, subject.call[1] + requests, subject.call[2] + tokens)
  end
  subject.requests, subject.tokens = subject.requests + requests, subject.tokens + tokens
  redis.call('HSET', subject.weight, '.r', int(subject.requests), '.t', int(subject.tokens))
  local mine = subject.mine + subject.call[3] + slots
  if mine > 0 then redis.call('HSET', subject.slot, process, int(mine) .. ':' .. int(now + SLOT))
  else redis.call('HDEL', subject.slot, process) end
  redis.call('PEXPIRE', subject.at, 65000)
  redis.call('PEXPIRE', subject.weight, 65000)
  redis.call('PEXPIRE', subject.slot, 30000)
  told[i] = '[' .. table.concat({
    int(requests), int(tokens), int(slots), room(subject.rpm, subject.requests), room(subject.tpm, subject.tokens),
    room(subject.concurrency, subject.slots + slots), subject.refused and freed(subject) or 'null',
  }, ',') .. ']'
end
local answer = '{"epoch":"' .. epoch .. '","lost":false,"admitted":"' .. table.concat(admitted)
  .. '","subjects":[' .. table.concat(told, ',') .. ']}'
redis.call('HSET', home, process, int(turn) .. ' ' .. answer)
redis.call('PEXPIRE', home, 65000)
return answer
`;

/** The keys of a permit request, in the script's order; one hash tag, so that a cluster keeps them together. */
export function keysOf({ workspaceId, subjects }: PermitRequest): string[] {
  const home = `gateway:limits:{${workspaceId}}`;
  const parts = ['at', 'weight', 'slot'] as const;
  return [home, ...subjects.flatMap(({ id }) => parts.map((part) => `${home}:${id}:${part}`))];
}

/** A permit request as lists, which `limitScript` reads. */
export function encodePermitRequest(request: PermitRequest): string {
  const entries = (list: readonly WindowEntry[]) =>
    list.map(({ id, requests, tokens, ageMs }) => [id, requests, tokens, ageMs]);
  const subjects = request.subjects.map(({ limits, slots, lowered, used, want }) => [
    ...[limits.rpm, limits.tpm, limits.concurrency, slots],
    entries(lowered),
    entries(used),
    [want.requests, want.tokens, want.slots],
  ]);
  const calls = request.calls.map((call) => [
    ...call.subjects,
    ...[call.requests, call.tokens, call.slot ? 1 : 0],
  ]);
  return JSON.stringify([request.process, request.turn, request.epoch, request.processes, subjects, calls]);
}

type ToldSubject = readonly [
  ...granted: [number, number, number],
  ...room: [number | null, number | null, number | null],
  freed: readonly Freed[] | null,
];

/** What `limitScript` wrote. @throws when it is something else. */
export function decodeAnswer(text: string): PermitAnswer {
  const told = toldIn(JSON.parse(text));
  return {
    epoch: told.epoch,
    lost: told.lost,
    admitted: [...told.admitted].map((one) => one === '1'),
    subjects: told.subjects.map(([requests, tokens, slots, rpm, tpm, concurrency, freed]) => ({
      granted: { requests, tokens, slots },
      room: { requests: rpm, tokens: tpm, slots: concurrency },
      freed: freed === null ? null : [...freed].sort(([one], [other]) => one - other),
    })),
  };
}

interface Told {
  readonly epoch: string;
  readonly lost: boolean;
  readonly admitted: string;
  readonly subjects: readonly ToldSubject[];
}

/** Only the script writes these keys; anything else has no list of subjects. */
function toldIn(value: unknown): Told {
  if (typeof value === 'object' && value !== null && 'subjects' in value && Array.isArray(value.subjects)) {
    return value as Told;
  }
  throw new Error('the limit store answered with something else');
}
