import { userIdIn } from '../model/user-id.ts'
import { userSearch, users } from '../pages/shapes/users.ts'
import { inQuery } from '../protocol/openapi/schema.ts'
import { cursorOf, listed } from './list-page.ts'
import { after } from './page-operations.ts'
import { resource } from './resource.ts'
import { searched, searchedIn } from './search.ts'
import { userToWire } from './wire.ts'

/** Lists and finds users for administrators. */
export const adminUsersPage = resource({
  path: ({ adminPrefix }) => `${adminPrefix}/users/`,
  operations: () => ({
    get: {
      operationId: 'listUsers',
      summary: 'Lists and finds users for administrators',
      answer: 'The first or the requested page of the list.',
      query: [inQuery('user', 'The beginning of an e-mail address, or an ID.'), after('after')],
    },
    post: {
      operationId: 'searchUsers',
      summary: 'Redirects the search form of the page; scripts search with a GET request',
    },
  }),
  audience: 'admin',
  page: 'adminUsers',
  view: users,
  async read(request) {
    const { server } = request
    const search = searchedIn(request, 'user')
    const found = await server.users.search(search, cursorOf(request, 'after'))
    const { items, next, first } = listed(request, 'after', found, userToWire)
    return {
      view: { users: items, is_searchable: server.users.canSearch, next },
      forPage: () => ({ first, search }),
    }
  },
  form: userSearch,
  async change(request, params) {
    const { server } = request
    return searched(request, params, {
      names: ['user'],
      location: (fields) => `${server.ui.links.adminUsers}${fields.size === 0 ? '' : `?${fields}`}`,
      isKnown: async (text) => {
        const id = userIdIn(text, server.users.keyType)
        return id !== undefined && (await server.users.find(id)) !== undefined
      },
    })
  },
})
