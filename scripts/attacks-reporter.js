/**
 * A reporter of vitest: writes test/attacks/results.json, how many tests of each case of the catalogue passed and
 * failed, by project. What a run did not reach keeps what it was.
 *
 *     npm run attacks
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

const file = resolve(import.meta.dirname, '../test/attacks/results.json')

/** The case that a test belongs to, by its own title or one around it. @param {string} fullName */
export const caseOf = (fullName) => /(?:^|> )([A-Z]{2}-\d{2})\b/.exec(fullName)?.[1]

// biome-ignore lint/style/noDefaultExport: so vitest wants it
export default class AttacksReporter {
  /** @param {readonly import('vitest/node').TestModule[]} modules */
  onTestRunEnd(modules) {
    /** @type {Record<string, Record<string, { passed: number, failed: number }>>} */
    const ran = {}
    for (const module of modules) {
      if (!module.relativeModuleId.startsWith('test/attacks/')) continue
      for (const test of module.children.allTests()) {
        const name = caseOf(test.fullName)
        const { state } = test.result()
        if (name === undefined || (state !== 'passed' && state !== 'failed')) continue
        const all = ran[name] ?? {}
        const { passed, failed } = all[module.project.name] ?? { passed: 0, failed: 0 }
        all[module.project.name] = {
          passed: passed + Number(state === 'passed'),
          failed: failed + Number(state === 'failed'),
        }
        ran[name] = all
      }
    }
    const before = JSON.parse(readFileSync(file, 'utf8'))
    const names = [...new Set([...Object.keys(before), ...Object.keys(ran)])].sort()
    const all = names.map((name) => [name, { ...before[name], ...ran[name] }])
    writeFileSync(file, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`)
  }
}
