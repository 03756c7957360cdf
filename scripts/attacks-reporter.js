/**
 * A vitest reporter that writes test/attacks/results.json: the numbers of passed and failed tests of each case of the
 * catalogue, by project. The file retains the results of cases that did not run.
 *
 *     npm run attacks
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

const file = resolve(import.meta.dirname, '../test/attacks/results.json')

/** Returns the case of a test, from the title of the test or of an enclosing block. @param {string} fullName */
export const caseOf = (fullName) => /(?:^|> )([A-Z]{2}-\d{2})\b/.exec(fullName)?.[1]

// biome-ignore lint/style/noDefaultExport: vitest requires a default export
export default class AttacksReporter {
  /** @param {readonly import('vitest/node').TestModule[]} modules */
  onTestRunEnd(modules) {
    /** @type {Record<string, Record<string, { passed: number, failed: number }>>} */
    const results = {}
    for (const module of modules) {
      if (!/^test\/(?:attacks|contracts|rfc)\//.test(module.relativeModuleId)) continue
      for (const test of module.children.allTests()) {
        const name = caseOf(test.fullName)
        const { state } = test.result()
        if (name === undefined || (state !== 'passed' && state !== 'failed')) continue
        const all = results[name] ?? {}
        const { passed, failed } = all[module.project.name] ?? { passed: 0, failed: 0 }
        all[module.project.name] = {
          passed: passed + Number(state === 'passed'),
          failed: failed + Number(state === 'failed'),
        }
        results[name] = all
      }
    }
    const before = JSON.parse(readFileSync(file, 'utf8'))
    const names = [...new Set([...Object.keys(before), ...Object.keys(results)])].sort()
    const all = names.map((name) => [name, { ...before[name], ...results[name] }])
    writeFileSync(file, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`)
  }
}
