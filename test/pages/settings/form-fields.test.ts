import { expect, test } from 'vitest'
import { newWorld } from './every-page.ts'
import { at } from './support.ts'

interface Schema {
  readonly $ref?: string
  readonly properties?: Record<string, unknown>
}

interface Document {
  readonly paths: Record<
    string,
    { readonly post?: { readonly requestBody?: { content: Record<string, { schema: Schema }> } } }
  >
  readonly components: { readonly schemas: Record<string, Schema> }
}

// The schemas omit these fields, which only the pages need.
const common = ['csrf_token', 'form_id', 'back', 'version']

const namesIn = (html: string): readonly string[] =>
  [...html.matchAll(/<(?:input|textarea|select|button)\b[^>]*\sname="([^"]+)"/g)].map(
    ([, name = '']) => name,
  )

/** Collects the names of the controls on all pages. Returns the names by the action of the form. */
const controlsOf = (pages: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> => {
  const controls = new Map<string, Set<string>>()
  for (const html of pages) {
    for (const [, action = '', content = ''] of html.matchAll(
      /<form\b[^>]*\smethod="post" action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g,
    )) {
      const names = controls.get(action) ?? new Set()
      for (const name of namesIn(content)) if (!common.includes(name)) names.add(name)
      controls.set(action, names)
    }
  }
  return controls
}

/** The fields with which scripts act on applications and tokens at the address of the list of applications. */
const ofOtherPages = ['confirm_name', 'default_resource', 'seen', 'token', 'token_id']

test('each form of the settings pages has exactly the controls that its schema describes', async () => {
  await using world = await newWorld()
  const { app, pages, person } = world
  const shownPages = await Promise.all(
    pages.map(async ({ path, who }) => (await who.get(path)).html),
  )
  // Only the page after a deletion contains the form that undoes the deletion.
  const { id } = await app.server.tokens.createPersonal('Laptop', app.user.id)
  const deleted = await person.post(at.token(id), { delete: 'yes', back: '' })
  const controls = controlsOf([...shownPages, (await person.follow(deleted)).html])
  const response = await fetch(`${app.issuer}/openapi.json`)
  const { paths, components } = (await response.json()) as Document
  const different: object[] = []
  let compared = 0
  for (const [path, { post }] of Object.entries(paths)) {
    const schema = post?.requestBody?.content['application/json']?.schema
    if (!schema) continue
    const name = schema.$ref?.split('/').at(-1) ?? ''
    const { properties = {} } = components.schemas[name] ?? schema
    // Scripts may set the type of a new client. The form asks for the kind of the application instead.
    const onlyForScripts =
      'application_type' in properties
        ? ['is_confidential']
        : name === 'AdministrationForm'
          ? ofOtherPages
          : []
    const described = Object.keys(properties).filter(
      (field) => ![...common, ...onlyForScripts].includes(field),
    )
    // A path such as `/tokens/new/` also matches the template `/tokens/{id}/`, so prefer the exact path.
    const template = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
    const isAction = (target: string) =>
      target === path || (template.test(target) && !(target in paths))
    const shown = new Set(
      [...controls].flatMap(([target, names]) => (isAction(target) ? [...names] : [])),
    )
    compared += 1
    if (described.sort().join() !== [...shown].sort().join())
      different.push({ path, described, shown: [...shown] })
  }
  expect(different).toEqual([])
  expect(compared).toBeGreaterThan(7)
})
