import type { PermitAnswer, PermitRequest } from '#lib/gateway/limits/pure/permit-request';

/** Redis' own clock, µs: no process's clock admits anything. */
export const redisClock = `local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])`;

/**
 * Carries out one permit request in Redis, as \`decidePermits\` decides it: everything at once or, for a turn that was
 * carried out before, nothing. KEYS: the workspace's own, then three for each subject: moments, weights, slots. All
 * have an expiry and the workspace's hash tag. ARGV: a \`PermitRequest\` as JSON; the answer is a \`PermitAnswer\` as JSON.
 * @param clock sets \`now\`; only tests use another than Redis' own.
 */
export const limitScript = (clock: string): string => `${clock}
local WINDOW, PERMIT, SLOT = 60000000, 1000000, 20000000
local request = cjson.decode(ARGV[1])
local process, turn, processes = request.process, request.turn, request.processes
local home = KEYS[1]
local function int(number) return string.format('%.0f', number) end
local function given(value) if value == cjson.null then return nil end return value end
local function lost(epoch)
  redis.call('PEXPIRE', home, 65000)
  return '{"epoch":"' .. epoch .. '","lost":true,"admitted":[],"subjects":[]}'
end

local epoch = redis.call('HGET', home, 'epoch')
if not epoch then
  epoch = int(now)
  redis.call('HSET', home, 'epoch', epoch)
end
if given(request.epoch) and request.epoch ~= epoch then return lost(epoch) end
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
for i, asked in ipairs(request.subjects) do
  local subject = {
    at = KEYS[3 * i - 1], weight = KEYS[3 * i], slot = KEYS[3 * i + 1],
    rpm = given(asked.limits.rpm), tpm = given(asked.limits.tpm), concurrency = given(asked.limits.concurrency),
    mine = asked.slots, want = asked.want, slots = asked.slots, refused = false,
    call = { requests = 0, tokens = 0, slots = 0 },
  }
  if redis.call('EXISTS', subject.at) == 0 then redis.call('DEL', subject.weight) end
  subject.requests = tonumber(redis.call('HGET', subject.weight, '.r') or 0)
  subject.tokens = tonumber(redis.call('HGET', subject.weight, '.t') or 0)
  for _, entry in ipairs(asked.lowered) do
    local id, text = entry.id, redis.call('HGET', subject.weight, entry.id)
    if text then
      local r, t = text:match('^(%d+):(%d+)$')
      r, t = tonumber(r), tonumber(t)
      local requests, tokens = math.min(r, entry.requests), math.min(t, entry.tokens)
      subject.requests = subject.requests - r + requests
      subject.tokens = subject.tokens - t + tokens
      if requests == 0 and tokens == 0 then
        redis.call('ZREM', subject.at, id)
        redis.call('HDEL', subject.weight, id)
      else
        local was = tonumber(redis.call('ZSCORE', subject.at, id))
        put(subject, id, math.min(was, now - math.floor(entry.ageMs * 1000)), requests, tokens)
      end
    end
  end
  for _, entry in ipairs(asked.used) do
    if redis.call('HEXISTS', subject.weight, entry.id) == 0 then
      put(subject, entry.id, now - math.floor(entry.ageMs * 1000), entry.requests, entry.tokens)
      subject.requests = subject.requests + entry.requests
      subject.tokens = subject.tokens + entry.tokens
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
  if call.requests > 0 and not leaves(subject.rpm, subject.requests, call.requests) then return false end
  if given(call.tokens) and not leaves(subject.tpm, subject.tokens, call.tokens) then return false end
  return not call.slot or not subject.concurrency or subject.slots < subject.concurrency
end
local admitted = {}
for n, call in ipairs(request.calls) do
  local all, whole = {}, true
  for k, position in ipairs(call.subjects) do all[k] = standing[position + 1] end
  for _, subject in ipairs(all) do
    if not fits(subject, call) then
      subject.refused = true
      whole = false
    end
  end
  admitted[n] = tostring(whole)
  if whole then
    for _, subject in ipairs(all) do
      for _, sum in ipairs({ subject, subject.call }) do
        sum.requests, sum.tokens = sum.requests + call.requests, sum.tokens + (given(call.tokens) or 0)
        sum.slots = sum.slots + (call.slot and 1 or 0)
      end
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
  return math.max(0, math.min(subject.want.slots, math.floor(free / (2 * processes))))
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

local function figures(requests, tokens, slots)
  return '{"requests":' .. requests .. ',"tokens":' .. tokens .. ',"slots":' .. slots .. '}'
end
local told = {}
for i, subject in ipairs(standing) do
  local requests = grant(subject, subject.rpm, subject.requests, subject.want.requests)
  local tokens = grant(subject, subject.tpm, subject.tokens, subject.want.tokens)
  local slots = grantSlots(subject)
  if subject.call.requests + subject.call.tokens + requests + tokens > 0 then
    local at = requests + tokens > 0 and now + PERMIT or now
    put(subject, process .. '.' .. int(turn), at, subject.call.requests + requests, subject.call.tokens + tokens)
  end
  subject.requests, subject.tokens = subject.requests + requests, subject.tokens + tokens
  redis.call('HSET', subject.weight, '.r', int(subject.requests), '.t', int(subject.tokens))
  local mine = subject.mine + subject.call.slots + slots
  if mine > 0 then redis.call('HSET', subject.slot, process, int(mine) .. ':' .. int(now + SLOT))
  else redis.call('HDEL', subject.slot, process) end
  redis.call('PEXPIRE', subject.at, 65000)
  redis.call('PEXPIRE', subject.weight, 65000)
  redis.call('PEXPIRE', subject.slot, 30000)
  told[i] = '{"granted":' .. figures(int(requests), int(tokens), int(slots))
    .. ',"room":' .. figures(room(subject.rpm, subject.requests), room(subject.tpm, subject.tokens),
      room(subject.concurrency, subject.slots + slots))
    .. ',"freed":' .. (subject.refused and freed(subject) or 'null') .. '}'
end
local answer = '{"epoch":"' .. epoch .. '","lost":false,"admitted":[' .. table.concat(admitted, ',')
  .. '],"subjects":[' .. table.concat(told, ',') .. ']}'
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

/** What `limitScript` wrote. @throws when it is something else. */
export function readAnswer(text: string): PermitAnswer {
  const answer: unknown = JSON.parse(text);
  // Only the script writes these keys; anything else has no list of subjects.
  if (
    typeof answer === 'object' &&
    answer !== null &&
    'subjects' in answer &&
    Array.isArray(answer.subjects)
  ) {
    return answer as PermitAnswer;
  }
  throw new Error('the limit store answered with something else');
}
