import { type CommandParser, defineScript } from '@redis/client'

/**
 * Each key contains a hash with the fields `value`, `count` and `expires_at`. As in every other store, the clock of the
 * caller determines the expiry, so the caller passes the times. Redis runs a script atomically. If its memory is full,
 * Redis refuses HSET and HINCRBY, but not after another write of the same script.
 */

const parseCommand = (parser: CommandParser, key: string, ...values: readonly string[]): void => {
  parser.pushKey(key)
  parser.push(...values)
}

/**
 * Arguments: value, expires_at, now, milliseconds to live. Returns 1, or 0 if the key has an unexpired value. If `now` is
 * infinite, replaces this value.
 */
const put = defineScript({
  NUMBER_OF_KEYS: 1,
  SCRIPT: `
local expires_at = redis.call('HGET', KEYS[1], 'expires_at')
if expires_at and tonumber(expires_at) > tonumber(ARGV[3]) then return 0 end
if expires_at then redis.call('DEL', KEYS[1]) end
redis.call('HSET', KEYS[1], 'value', ARGV[1], 'expires_at', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1`,
  parseCommand,
  transformReply: (reply: unknown) => reply === 1,
})

/** Argument: now. Removes and returns the value, or returns false if the key has no unexpired value. */
const take = defineScript({
  NUMBER_OF_KEYS: 1,
  SCRIPT: `
local found = redis.call('HMGET', KEYS[1], 'expires_at', 'value')
if not found[1] or tonumber(found[1]) <= tonumber(ARGV[1]) then return false end
redis.call('DEL', KEYS[1])
return found[2]`,
  parseCommand,
  transformReply: (reply: unknown) => (typeof reply === 'string' ? reply : undefined),
})

/** Arguments: expires_at, now, milliseconds to live, the number to add. Returns the sum. */
const increment = defineScript({
  NUMBER_OF_KEYS: 1,
  SCRIPT: `
local expires_at = redis.call('HGET', KEYS[1], 'expires_at')
if expires_at and tonumber(expires_at) <= tonumber(ARGV[2]) then redis.call('DEL', KEYS[1]) end
local count = redis.call('HINCRBY', KEYS[1], 'count', ARGV[4])
redis.call('HSET', KEYS[1], 'expires_at', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return count`,
  parseCommand,
  transformReply: (reply: unknown) => Number(reply),
})

/**
 * The key contains the sorted set of an owner: the keys of its values by their expiry. Arguments: the key of a value,
 * its expires_at, the maximum number of values, milliseconds to live. Returns the keys of the values to delete: those
 * that expire first, but not this value.
 */
const makeRoom = defineScript({
  NUMBER_OF_KEYS: 1,
  SCRIPT: `
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[4]) then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
local excess = redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[3])
if excess <= 0 then return {} end
local first = redis.call('ZRANGE', KEYS[1], 0, excess)
local surplus = {}
for index = 1, #first do
  if first[index] ~= ARGV[1] and #surplus < excess then surplus[#surplus + 1] = first[index] end
end
redis.call('ZREM', KEYS[1], unpack(surplus))
return surplus`,
  parseCommand,
  transformReply: (reply: unknown) => (Array.isArray(reply) ? reply.map(String) : []),
})

/**
 * Operations for which Redis has no command. The client sends the digest of a script. If Redis does not know the
 * digest, the client sends the whole script.
 */
export const scripts = { put, take, increment, makeRoom }
