import {createHash} from 'node:crypto'

/** A script that Redis runs as one step, and the name it keeps it under. */
export interface Script {
  readonly lua: string
  readonly sha: string
}

const script = (lua: string): Script => ({lua, sha: createHash('sha1').update(lua).digest('hex')})

/**
 * Beside each counter that was restored: what is held of it in advance, and its revision. It has the hash tag of the counter and lasts as long;
 * a counter that an earlier version restored gets it when it is claimed next.
 */
const BESIDE = `
local function beside(name) return (string.gsub(name, ':', ':beside:', 1)) end`

/**
 * Keys: marker of the generation, reservation, counters. Arguments: generation the names were made for, one to begin when there is
 * none, whether to extend, deadline, when to forget the reservation; then for each counter its type, amount, the most that may be
 * used before, when to forget it, and whether it rebuilds or is a shadow.
 * Answers a word, the store's time, and the places (from 1) of the counters it speaks of.
 * Numbers are compared as texts: Lua's are doubles, and sums of nano-dollars go beyond what they hold exactly.
 */
export const RESERVE = script(`${BESIDE}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function answer(word, list) return {word, string.format('%.0f', now), list} end
local function above(used, most)
  if string.sub(most, 1, 1) == '-' then return true end
  if #used ~= #most then return #used > #most end
  return used > most
end

local generation = redis.call('GET', KEYS[1])
if not generation then
  generation = ARGV[2]
  redis.call('SET', KEYS[1], generation)
end
if generation ~= ARGV[1] then return answer('generation', {generation}) end

local extends = ARGV[3] == '1'
if extends then
  local deadline = redis.call('HGET', KEYS[2], 'deadline')
  if not deadline or tonumber(deadline) <= now then return answer('unknown', {}) end
end

local over, missing, refused = {}, {}, {}
for i = 3, #KEYS do
  local at = 6 + (i - 3) * 5
  local used = redis.call('GET', KEYS[i])
  if not used and string.find(ARGV[at + 4], 'rebuilds') then
    missing[#missing + 1] = i - 2
  elseif above(used or '0', ARGV[at + 2]) then
    local list = string.find(ARGV[at + 4], 'shadow') and over or refused
    list[#list + 1] = i - 2
  end
end
if #missing > 0 then return answer('missing', missing) end
if #refused > 0 then return answer('refused', refused) end

for i = 3, #KEYS do
  local at = 6 + (i - 3) * 5
  redis.call('INCRBY', KEYS[i], ARGV[at + 1])
  redis.call('PEXPIREAT', KEYS[i], ARGV[at + 3])
  redis.call('HINCRBY', KEYS[2], ARGV[at] .. '|' .. KEYS[i], ARGV[at + 1])
  if string.find(ARGV[at + 4], 'rebuilds') then
    local more = beside(KEYS[i])
    if redis.call('PEXPIREAT', more, ARGV[at + 3]) == 0 then
      redis.call('HSETNX', more, 'revision', time[1] .. '.' .. time[2])
      redis.call('PEXPIREAT', more, ARGV[at + 3])
    end
    if ARGV[at + 1] ~= '0' then redis.call('HINCRBY', more, 'held', ARGV[at + 1]) end
  end
end
if not extends then
  redis.call('HSET', KEYS[2], 'deadline', ARGV[4])
  redis.call('PEXPIREAT', KEYS[2], ARGV[5])
end
return answer('taken', over)
`)

/**
 * Key: reservation. Arguments: tokens and nano-dollars used, or \`release\`. Answers 0 when there is no such reservation.
 * The names of the counters come from the reservation; they share its hash tag, so they live where it lives.
 */
export const SETTLE = script(`${BESIDE}
local fields = redis.call('HGETALL', KEYS[1])
if #fields == 0 then return 0 end
redis.call('DEL', KEYS[1])
for i = 1, #fields, 2 do
  local type, name = string.match(fields[i], '^(%a+)|(.+)$')
  if type and redis.call('EXISTS', name) == 1 then
    local held = fields[i + 1]
    local used = held
    if ARGV[1] == 'release' then used = '0'
    elseif type == 'tokens' then used = ARGV[1]
    elseif type == 'cost' then used = ARGV[2] end
    redis.call('INCRBY', name, used)
    if redis.call('DECRBY', name, held) < 0 then redis.call('SET', name, '0', 'KEEPTTL') end
    if held ~= '0' and redis.call('EXISTS', beside(name)) == 1 then
      local left = redis.call('HINCRBY', beside(name), 'held', '-' .. held)
      if left < 0 then redis.call('HSET', beside(name), 'held', '0') end
    end
  end
end
return 1
`)

/** Keys: marker of the generation, counters. Arguments: the generation, then for each counter its value and when to forget it. */
export const RESTORE = script(`${BESIDE}
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local time = redis.call('TIME')
for i = 2, #KEYS do
  local ends = ARGV[(i - 1) * 2 + 1]
  if redis.call('SET', KEYS[i], ARGV[(i - 1) * 2], 'NX', 'PXAT', ends) then
    redis.call('HSET', beside(KEYS[i]), 'revision', time[1] .. '.' .. time[2])
    redis.call('PEXPIREAT', beside(KEYS[i]), ends)
  end
end
return 1
`)

/** Keys: counters. Answers for each what was used, what is held of it and its revision; empty texts for what is not there. */
export const STANDINGS = script(`${BESIDE}
local state = {}
for i = 1, #KEYS do
  local more = redis.call('HMGET', beside(KEYS[i]), 'held', 'revision')
  state[i] = {redis.call('GET', KEYS[i]) or '', more[1] or '0', more[2] or ''}
end
return state
`)

/** Key: counter. Arguments: what to add, the revision that it has to have, the next one. Answers 0 when it has another. */
export const CORRECT = script(`${BESIDE}
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HGET', beside(KEYS[1]), 'revision') ~= ARGV[2] then return 0 end
redis.call('HSET', beside(KEYS[1]), 'revision', ARGV[3])
redis.call('INCRBY', KEYS[1], ARGV[1])
if string.sub(redis.call('GET', KEYS[1]), 1, 1) == '-' then redis.call('SET', KEYS[1], '0', 'KEEPTTL') end
return 1
`)

/** Keys: counters. Arguments: what to add to each that exists. */
export const ADJUST = script(`
for i = 1, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then redis.call('INCRBY', KEYS[i], ARGV[i]) end
end
return 1
`)
