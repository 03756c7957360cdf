import { describeAdapter } from './embed.ts'
import { expressHost } from './hosts/express.ts'

describeAdapter('Express 5', expressHost)
