import { existsSync, globSync } from 'node:fs'
import { dirname, posix, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { readPage, root } from './markdown.ts'

const pages = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md'], {
  cwd: root,
  exclude: (path) => path.includes('node_modules'),
})

/** Returns the anchors that GitHub generates for the headings of a page. */
const anchorsOf = (page: string): readonly string[] =>
  [...withoutCode(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

const withoutCode = (page: string): string => page.replaceAll(/^```[\s\S]*?^```$/gm, '')

test.each(pages)('every link of %s has a target', (path) => {
  const links = [...withoutCode(readPage(path)).matchAll(/\]\(([^)\s]+)\)/g)]
  const dead = links
    .map(([, target = '']) => target)
    .filter((target) => !/^https?:/.test(target))
    .filter((target) => {
      const [file = '', anchor] = target.split('#')
      const found = file === '' ? path : posix.join(dirname(path), file)
      if (!existsSync(resolve(root, found))) return true
      return anchor !== undefined && !anchorsOf(readPage(found)).includes(anchor)
    })
  expect(dead).toEqual([])
})
