import {createHash} from 'node:crypto'

/** A script that Redis runs as one step, and the name it keeps it under. */
export interface Script {
  readonly lua: string
  readonly sha: string
}

const script = (lua: string): Script => ({lua, sha: createHash('sha1').update(lua).digest('hex')})

/**
 * Beside each counter that was restored: what is held of it in advance, and its revision. It has the hash tag of the
 * counter and lasts as long; a counter that an earlier version restored gets it when it is claimed next.
 */
const BESIDE = `
local function beside(name) return (string.gsub(name, ':', ':beside:', 1)) end`

/**
 * Adds to a counter. Beyond 64 bits it stays at the bound: an error would end a script half done.
 */
const ADD = `
local function add(name, amount)
  local done = redis.pcall('INCRBY', name, amount)
  if type(done) == 'table' and done.err then
    redis.call('SET', name, '9223372036854775807', 'KEEPTTL')
    return 1
  end
  return done
end`

/**
 * The counters of a policy are in a sorted set by when they are forgotten, and those of all policies in another. At the
 * bound of one those that are over go first, then one that the ledger can restore and nothing is held of; false where
 * there is none.
 */
const ROOM = `
local function drop(set, all)
  for _, name in ipairs(redis.call('ZRANDMEMBER', set, 64)) do
    local more = redis.call('HMGET', beside(name), 'group', 'held')
    if more[1] and (not more[2] or more[2] == '0') then
      redis.call('DEL', name, beside(name))
      redis.call('ZREM', more[1], name)
      redis.call('ZREM', all, name)
      return true
    end
  end
  return false
end
local function fits(set, most, all, now)
  if redis.call('ZCARD', set) < most then return true end
  redis.call('ZREMRANGEBYSCORE', set, '-inf', string.format('%.0f', now))
  return redis.call('ZCARD', set) < most or drop(set, all)
end
local function makesRoom(group, all, bounds, now)
  return group == '' or (fits(group, bounds[1], all, now) and fits(all, bounds[2], all, now))
end
local function enter(group, all, name, ends)
  if group == '' then return end
  for _, set in ipairs({group, all}) do
    redis.call('ZADD', set, ends, name)
    redis.call('PEXPIRE', set, 3110400000)
  end
end`

/**
 * Keys: marker of the generation, reservation, counters of all policies, counters. Arguments: generation the names were
 * made for, one to begin when there is none, whether to extend, deadline, when to forget the reservation, the bounds of
 * a policy and of all; then for each counter its type, amount, the most that may be used before, when to forget it,
 * whether it rebuilds or is a shadow, and the set of its policy. Answers a word, the store's time, and the places (from
 * 1) of the counters it speaks of. Numbers are compared as texts: Lua's are doubles, and sums of nano-dollars go beyond
 * what they hold exactly.
 */
export const RESERVE = script(`${BESIDE}${ADD}${ROOM}
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

local bounds = {tonumber(ARGV[6]), tonumber(ARGV[7])}
local over, missing, refused, full, left = {}, {}, {}, {}, {}
for i = 4, #KEYS do
  local at = 8 + (i - 4) * 6
  local used = redis.call('GET', KEYS[i])
  local shadow = string.find(ARGV[at + 4], 'shadow')
  if not used and not makesRoom(ARGV[at + 5], KEYS[3], bounds, now) then
    left[i] = true
    local list = shadow and over or full
    list[#list + 1] = i - 3
  elseif not used and string.find(ARGV[at + 4], 'rebuilds') then
    missing[#missing + 1] = i - 3
  elseif above(used or '0', ARGV[at + 2]) then
    local list = shadow and over or refused
    list[#list + 1] = i - 3
  end
end
if #missing > 0 then return answer('missing', missing) end
if #refused > 0 then return answer('refused', refused) end
if #full > 0 then return answer('full', full) end

for i = 4, #KEYS do
  local at = 8 + (i - 4) * 6
  if not left[i] then
    if redis.call('EXISTS', KEYS[i]) == 0 then enter(ARGV[at + 5], KEYS[3], KEYS[i], ARGV[at + 3]) end
    add(KEYS[i], ARGV[at + 1])
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
end
if not extends then
  redis.call('HSET', KEYS[2], 'deadline', ARGV[4])
  redis.call('PEXPIREAT', KEYS[2], ARGV[5])
end
return answer('taken', over)
`)

/**
 * Key: reservation. Arguments: tokens and nano-dollars used, or \`release\`. Answers 0 when there is no such
 * reservation. The names of the counters come from the reservation; they share its hash tag, so they live where it
 * lives.
 */
export const SETTLE = script(`${BESIDE}${ADD}
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
    add(name, used)
    if redis.call('DECRBY', name, held) < 0 then redis.call('SET', name, '0', 'KEEPTTL') end
    if held ~= '0' and redis.call('EXISTS', beside(name)) == 1 then
      local left = redis.call('HINCRBY', beside(name), 'held', '-' .. held)
      if left < 0 then redis.call('HSET', beside(name), 'held', '0') end
    end
  end
end
return 1
`)

/**
 * Keys: marker of the generation, counters of all policies, counters. Arguments: the generation, the bounds of a policy
 * and of all, then for each counter its value, when to forget it, and the set of its policy.
 */
export const RESTORE = script(`${BESIDE}${ROOM}
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local bounds = {tonumber(ARGV[2]), tonumber(ARGV[3])}
for i = 3, #KEYS do
  local at = 4 + (i - 3) * 3
  local ends = ARGV[at + 1]
  if redis.call('EXISTS', KEYS[i]) == 0 and makesRoom(ARGV[at + 2], KEYS[2], bounds, now) then
    redis.call('SET', KEYS[i], ARGV[at], 'PXAT', ends)
    enter(ARGV[at + 2], KEYS[2], KEYS[i], ends)
    if ARGV[at + 2] ~= '' then redis.call('HSET', beside(KEYS[i]), 'group', ARGV[at + 2]) end
    redis.call('HSET', beside(KEYS[i]), 'revision', time[1] .. '.' .. time[2])
    redis.call('PEXPIREAT', beside(KEYS[i]), ends)
  end
end
return 1
`)

/**
 * Keys: counters. Answers for each what was used, what is held of it and its revision; empty texts for what is not
 * there.
 */
export const STANDINGS = script(`${BESIDE}
local state = {}
for i = 1, #KEYS do
  local more = redis.call('HMGET', beside(KEYS[i]), 'held', 'revision')
  state[i] = {redis.call('GET', KEYS[i]) or '', more[1] or '0', more[2] or ''}
end
return state
`)

/**
 * Key: counter. Arguments: what to add, the revision that it has to have, the next one. Answers 0 when it has another.
 */
export const CORRECT = script(`${BESIDE}${ADD}
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HGET', beside(KEYS[1]), 'revision') ~= ARGV[2] then return 0 end
redis.call('HSET', beside(KEYS[1]), 'revision', ARGV[3])
add(KEYS[1], ARGV[1])
if string.sub(redis.call('GET', KEYS[1]), 1, 1) == '-' then redis.call('SET', KEYS[1], '0', 'KEEPTTL') end
return 1
`)

/** Keys: counters. Arguments: what to add to each that exists. */
export const ADJUST = script(`${ADD}
for i = 1, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then add(KEYS[i], ARGV[i]) end
end
return 1
`)
