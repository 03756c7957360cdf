import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { root } from '../docs/markdown.ts'
import { findExcess, maxRatio } from '../work/work.ts'

// The names of the headers that the sources read from a request.
const reading =
  /(?:\bheader|headers\.(?:get|has)|rawHeader)\((?:\w+, )?'([a-z-]+)'|^const names = \[('.+')\] as const$/gm
const setByNode = ['content-length', 'transfer-encoding']
const headerNames = [
  ...new Set(
    globSync(`${root}/src/{http,protocol,server,adapters}/**/*.ts`).flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(reading)].flatMap(([, name, list = '']) => [
        ...(name === undefined ? [] : [name]),
        ...[...list.matchAll(/'([a-z-]+)'/g)].map(([, one = '']) => one),
      ]),
    ),
  ),
  'access-control-request-headers',
  'traceparent',
  'baggage',
].filter((name) => !setByNode.includes(name))

const isWhole = process.env.NODES === 'whole'

test(`no long text in any header, parameter, field or member costs more than ${maxRatio} times the processor time of an ordinary request [T3320]`, async () => {
  expect(headerNames).toEqual(
    expect.arrayContaining(['cookie', 'authorization', 'user-agent', 'dpop', 'sec-purpose']),
  )
  const { excess, sent } = await findExcess({ headerNames, percent: isWhole ? 1 : 0, isWhole })
  expect(excess).toEqual([])
  expect(sent).toBeGreaterThan(2_000)
}, 1_200_000) // Thousands of requests one after the other; the limit allows for a busy machine.
