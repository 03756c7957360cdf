import { counted } from './counted.ts'
import type { Messages } from './en.ts'

const count = counted('pt')

export const pt: Messages = {
  frame: {
    skip: 'Ir para o conteúdo',
    navigation: 'Conta',
    applications: 'Aplicativos',
    sessions: 'Sessões',
    activity: 'Atividade',
    leaked: 'Segredo exposto',
    admin: 'Administração',
    logout: 'Sair',
    copy: 'Copiar',
    copied: 'Copiado',
    next: 'Próxima página',
    first: 'Primeira página',
    pages: 'Páginas',
    save: 'Salvar alterações',
    cancel: 'Cancelar',
    line: (line: number, sentence: string) => `Linha ${line}: ${sentence}`,
  },
  facts: {
    clientId: 'ID do cliente',
    clientSecret: 'Segredo do cliente',
    type: 'Tipo',
    confidential: 'Confidencial',
    public: 'Público',
    verified: 'Verificado',
    disabled: 'Desativado',
    selfRegistered: 'Registrou-se sozinho',
    selfDescribed: 'Descreve a si mesmo',
    expired: 'Expirado',
    created: 'Criado em',
    users: 'Usuários',
    moreThan: (count) => `mais de ${count}`,
    expires: 'Expira',
    never: 'Nunca',
    lastUsed: 'Último uso',
    neverUsed: 'Ainda não usado',
    from: (address: string) => `a partir de ${address}`,
    owner: 'Registrado por',
    nobody: 'Ninguém',
    website: 'Site',
    since: 'Acesso permitido desde',
    permissions: 'Permissões',
    noPermissions: 'Nenhuma, além de saber quem você é',
    read: 'Somente leitura',
    write: 'Pode alterar',
    highRisk: 'Risco alto',
    otherGroup: 'Outras',
    unknownBrowser: 'Navegador ou programa desconhecido',
    words: (name: string) => `Como ${name} se descreve:`,
  },
  login: {
    title: 'Entrar',
    continueTo: (client: string) =>
      `${client} pede acesso à sua conta. Você decide depois de entrar.`,
    email: 'Endereço de e-mail',
    password: 'Senha',
    submit: 'Entrar',
    wrong: 'O endereço de e-mail ou a senha estão incorretos.',
    tooMany: 'Foram digitadas senhas incorretas demais. Espere dez minutos e tente novamente.',
    stale:
      'Esta página ficou aberta por muito tempo ou os cookies estão bloqueados. Tente novamente.',
    foreign: 'Este formulário foi enviado de outro site. Entre por aqui.',
    dropsCookies:
      'O Safari não consegue entrar em um endereço que começa com http://. Use outro navegador, como Firefox ou Chrome, ou abra este site com https.',
  },
  home: {
    title: 'Página inicial',
    nobody: 'Você não entrou em nenhuma conta.',
    user: 'Você entrou como',
    login: 'Entrar',
    applications: 'Aplicativos e tokens pessoais',
    aboutApplications:
      'Registre aplicativos, crie tokens para seus próprios programas e veja quem pode agir em seu nome.',
    sessions: 'Sessões',
    aboutSessions: 'Veja onde sua conta está aberta e encerre as sessões em outros lugares.',
    admin: 'Administração',
    aboutAdmin: 'Gerencie todos os aplicativos e tokens.',
  },
  consent: {
    title: (client: string) => `Autorizar ${client}?`,
    asks: (client: string) => `${client} quer agir em seu nome e pede permissão para:`,
    nothing: (client: string) =>
      `${client} quer saber quem você é. Não recebe nenhuma outra permissão.`,
    asksMore: (client: string) =>
      `${client} já tem acesso à sua conta. Agora pede também permissão para:`,
    asksAgain: (client: string) => `${client} pede novamente o que você já permitiu:`,
    allowedBefore: 'Você já permitiu:',
    optional: 'Você pode desmarcar o que não quiser permitir.',
    user: 'Você entrou como',
    otherAccount: 'Não é você? Use outra conta',
    owner: 'Registrado por',
    website: 'Site',
    destination: 'Em seguida, você irá para',
    local: 'um programa neste mesmo computador',
    unverified: (brand: string) =>
      `${brand} não verificou este aplicativo. Autorize apenas se souber quem o desenvolve.`,
    selfRegistered: (brand: string) =>
      `Este aplicativo registrou a si mesmo. Ninguém em ${brand} o verificou: o nome e tudo o mais que ele diz sobre si podem ser falsos. Autorize apenas se souber quem o desenvolve.`,
    selfDescribed: (host: string) =>
      `Este aplicativo descreve a si mesmo em ${host}. Ninguém aqui o verificou: o nome e tudo o mais que ele diz sobre si podem ser falsos. Autorize apenas se souber quem está por trás desse endereço.`,
    localCaution:
      'Se você autorizar, um programa neste computador receberá a permissão. Qualquer programa pode se passar por este aplicativo: autorize apenas se foi você quem acabou de iniciá-lo.',
    terms: 'Termos de uso',
    privacy: 'Política de privacidade',
    mixesAlphabets:
      'O nome mistura letras de vários alfabetos, e algumas delas são parecidas. Confirme que é quem você pensa.',
    lasting:
      'Se você autorizar, vale até que você revogue o acesso em suas configurações, em “Aplicativos”.',
    accept: 'Autorizar',
    undecided: 'Não foi escolhido “Autorizar” nem “Recusar”. Escolha uma das opções.',
    refuse: 'Recusar',
  },
  device: {
    title: 'Conectar um dispositivo',
    about: 'Seu dispositivo ou programa mostra um código. Digite-o aqui.',
    code: 'Código',
    codeHint: 'Oito letras, por exemplo WDJB-MJHT, maiúsculas ou minúsculas.',
    submit: 'Continuar',
    wrong:
      'Este código não é válido. Talvez tenha sido digitado errado, tenha expirado ou já tenha sido usado.',
    tooMany:
      'Foram digitados códigos incorretos demais. Espere dez minutos e peça um novo código em seu dispositivo.',
    warning:
      'Autorize apenas se você mesmo acabou de iniciar isto, em um dispositivo seu. Se alguém enviou a você este código ou um link, recuse: essa pessoa agiria em seu nome.',
    shows: 'Seu dispositivo deve mostrar exatamente este código:',
    allowedTitle: 'Acesso autorizado',
    allowed: (client: string) => `${client} agora pode agir em seu nome.`,
    goBack: 'Volte ao seu dispositivo: ele continuará sozinho em alguns segundos.',
    refusedTitle: 'Acesso recusado',
    refused: (client: string) => `${client} não pode fazer nada em seu nome.`,
    close: 'Você pode fechar esta página.',
  },
  applications: {
    title: 'Aplicativos',
    clients: {
      title: 'Meus aplicativos',
      about:
        'Aplicativos que você registrou. Eles podem pedir permissão a outras pessoas, e a você, para agir aqui em nome delas.',
      none: 'Você ainda não registrou nenhum aplicativo.',
      invite:
        'Registre um para que as pessoas possam entrar no seu site ou programa com a conta que têm aqui.',
      create: 'Registrar um aplicativo',
    },
    tokens: {
      title: 'Meus tokens pessoais',
      about:
        'Chaves para seus próprios scripts e programas. Cada uma age em seu nome, dentro das permissões que você escolheu para ela.',
      none: 'Você ainda não tem tokens pessoais.',
      invite:
        'Crie um para usar a API a partir de um script, da linha de comando ou de outro programa.',
      create: 'Criar um token',
    },
    authorized: {
      title: 'Aplicativos autorizados',
      about:
        'Aplicativos que podem agir em seu nome porque você os autorizou. Você pode revogar o acesso quando quiser.',
      none: 'Você não autorizou nenhum aplicativo a agir em seu nome.',
      invite:
        'Quando você entrar em outro site ou programa com sua conta daqui, ele aparecerá nesta lista.',
      devices: count({ one: '# dispositivo', other: '# dispositivos' }),
      moreDevices: count({ one: 'e mais # dispositivo', other: 'e mais # dispositivos' }),
      revoke: 'Revogar acesso',
      revokeNamed: (name: string) => `Revogar acesso: ${name}`,
      revokeAll: 'Revogar o acesso de todos os aplicativos',
      revokeAllAbout:
        'Nenhum aplicativo poderá mais agir em seu nome, em nenhum dispositivo. Seus tokens pessoais permanecem.',
    },
  },
  client: {
    newTitle: 'Registrar um aplicativo',
    newAbout:
      'Um aplicativo registrado pode pedir permissão às pessoas para agir aqui em nome delas. Ele é identificado por um ID do cliente.',
    create: 'Registrar o aplicativo',
    name: 'Nome',
    nameHint: 'O que as pessoas leem quando seu aplicativo pede permissão.',
    description: 'Descrição',
    descriptionHint: 'Opcional. O que seu aplicativo faz e por que precisa de permissão.',
    website: 'Site',
    websiteHint: 'Opcional. Onde encontrar mais informações; começa com https://',
    redirectUris: 'URIs de redirecionamento',
    redirectUrisHint:
      'Um por linha. Depois de decidir, as pessoas voltam para um destes endereços. Precisa ser o endereço exato e começar com https:// (ou http:// no seu próprio computador).',
    type: 'Tipo',
    confidentialHint:
      'É executado em um servidor seu e consegue guardar um segredo, como um aplicativo web.',
    publicHint:
      'Outras pessoas podem ver o que há dentro dele, como um aplicativo móvel ou de desktop, ou uma página sem servidor. Não tem segredo.',
    defaultScopes: 'Permissões padrão',
    defaultScopesHint:
      'O que seu aplicativo pede quando a solicitação não especifica. Sem usuário, com client_credentials, seu aplicativo só pode obter estas.',
    optionalScopes: 'Permissões opcionais',
    optionalScopesHint: 'As pessoas podem desmarcá-las e mesmo assim autorizar o resto.',
    credentials: 'Credenciais',
    secretKept: 'Mostrado uma única vez, ao ser criado. Se você o perdeu, crie um novo abaixo.',
    secretOnce:
      'Copie o segredo do cliente agora. Ele só é mostrado desta vez, e não podemos mostrá-lo de novo.',
    previousSecret: (time: string) => `O segredo anterior é válido até ${time}.`,
    secretLeaked: (time: string) =>
      `O segredo do cliente foi encontrado em um lugar onde outros podem lê-lo. Ele deixou de funcionar em ${time}: crie um novo abaixo.`,
    disabledAbout:
      'Um administrador desativou este aplicativo. Enquanto estiver assim, ele e seus tokens são recusados.',
    tryIt: 'Experimente',
    tryItStart: 'Iniciar o fluxo como seu aplicativo faria',
    tryItAbout:
      'Leva à página em que as pessoas decidem. Em seguida, você vai para o seu URI de redirecionamento, com um código no endereço.',
    tryItCurl:
      'Em até um minuto, troque o código por um token de acesso. Coloque o código no lugar de CODE:',
    tryItCurlSecret:
      'Em até um minuto, troque o código por um token de acesso. Coloque o código no lugar de CODE e o segredo do cliente no lugar de SECRET:',
    settings: 'Configurações',
    reset: 'Novo segredo do cliente',
    resetAbout: 'Faça isso se o segredo foi perdido ou se outras pessoas podem conhecê-lo.',
    overlap: 'Manter o segredo antigo válido por',
    overlapHint: 'Tempo para substituir o antigo pelo novo.',
    resetSubmit: 'Criar um novo segredo',
    delete: 'Excluir este aplicativo',
    deleteAbout:
      'Todos os tokens dele deixam de funcionar imediatamente e, se você o registrar de novo, as pessoas terão de autorizá-lo novamente. Esta ação não pode ser desfeita.',
    confirmName: (name: string) => `Para confirmar, digite o nome do aplicativo: ${name}`,
    deleteSubmit: 'Excluir o aplicativo',
  },
  token: {
    newTitle: 'Criar um token pessoal',
    newAbout:
      'Um token é como uma senha para um programa: quem o tiver pode fazer o que você permitir aqui. Permita apenas o que o programa precisa.',
    create: 'Criar o token',
    name: 'Nome',
    nameHint: 'Para que serve, de modo que você o reconheça depois.',
    expires: 'Data de expiração',
    expiresHint: 'Opcional. Sem uma data, o token é válido até que você o exclua.',
    expiresLast: (day: string) => `Escolha um dia, no máximo até ${day}.`,
    scopes: 'Permissões',
    scopesHint:
      'O que um programa com este token pode fazer em seu nome. Você pode mudar isso depois.',
    noScopes: 'Não há nada para escolher: o token só informa quem você é.',
    once: 'Copie o token agora. Ele só é mostrado desta vez, e não podemos mostrá-lo de novo.',
    value: 'Token pessoal',
    curl: 'Para experimentar, execute isto na linha de comando:',
    expiredAbout: 'Este token expirou e é recusado. Exclua-o ou crie um novo.',
    previous: (time: string) => `O valor anterior é válido até ${time}.`,
    settings: 'Configurações',
    rotate: 'Novo valor',
    rotateAbout:
      'O token mantém seu nome e suas permissões e recebe um novo valor. Faça isso se o valor foi perdido ou se outras pessoas podem conhecê-lo.',
    overlap: 'Manter o valor antigo válido por',
    overlapHint: 'Tempo para substituir o antigo pelo novo.',
    rotateSubmit: 'Criar um novo valor',
    delete: 'Excluir este token',
    deleteAbout:
      'Os programas que o usam passam a ser recusados a partir desse momento. Esta ação não pode ser desfeita.',
    deleteSubmit: 'Excluir o token',
  },
  overlap: { none: 'Tempo nenhum: deixa de funcionar imediatamente' },
  authorization: {
    title: (client: string) => `O que ${client} pode fazer`,
    device: 'Dispositivo',
    ends: 'Expira se não for usado',
    permissions: 'Pode:',
    revoke: 'Revogar neste dispositivo',
    revokeAbout:
      'A sessão do aplicativo neste dispositivo é encerrada, e ele pode pedir permissão de novo.',
    revokeAll: 'Revogar em todos os dispositivos',
    revokeAllAbout:
      'A sessão do aplicativo é encerrada em todos os lugares, e ele tem de pedir permissão de novo.',
  },
  sessions: {
    title: 'Sessões',
    about:
      'Navegadores em que sua conta está aberta. Se você não reconhecer algum, encerre a sessão dele e mude sua senha.',
    current: 'Este navegador',
    address: 'Endereço IP',
    since: 'Início da sessão',
    lastSeen: 'Última atividade',
    end: 'Encerrar sessão',
    endNamed: (browser: string) => `Encerrar sessão: ${browser}`,
    others: 'Encerrar as outras sessões',
    othersAbout: 'A sessão é encerrada em todos os navegadores, exceto neste.',
    alone: 'Sua conta não está aberta em nenhum outro lugar.',
  },
  userLinks: {
    reset_password: {
      title: 'Esqueceu a senha?',
      about:
        'Digite seu endereço de e-mail. Você receberá um link com o qual poderá definir uma nova senha.',
      openTitle: 'Definir uma nova senha',
      submit: 'Definir senha',
      done: 'Sua senha foi alterada. Entre com a nova senha.',
    },
    sign_up: {
      title: 'Criar uma conta',
      about:
        'Digite seu endereço de e-mail. Você receberá um link com o qual poderá criar sua conta.',
      openTitle: 'Criar uma conta',
      submit: 'Criar conta',
      done: 'Sua conta foi criada. Agora você já pode entrar.',
    },
    verify_email: {
      openTitle: 'Confirmar o endereço de e-mail',
      submit: 'Confirmar',
      done: 'Seu endereço de e-mail está confirmado.',
      about: 'Você ainda não confirmou seu endereço de e-mail:',
    },
    request: 'Enviar link',
    sent: (email) =>
      `Verifique seu e-mail. Se o endereço ${email} estiver correto, você receberá um link válido por uma hora.`,
    toLogin: 'Voltar para a entrada',
    notAnAddress: 'Isto não é um endereço de e-mail.',
    tooMany: 'Foram solicitados links demais. Tente novamente em dez minutos.',
  },
  password: {
    title: 'Alterar senha',
    about:
      'Depois da alteração, você continuará conectado apenas neste navegador. Os aplicativos e os tokens pessoais mantêm o acesso.',
    current: 'Senha atual',
    next: 'Nova senha',
    hint: (min: number) => `Pelo menos ${min} caracteres.`,
    submit: 'Alterar senha',
  },
  activity: {
    title: 'Atividade recente',
    about:
      'O que aconteceu com a sua conta. Se não reconhecer algo, altere a senha e revogue o que não conhece.',
    none: 'Nada por enquanto.',
    from: 'De',
    browser: 'Navegador ou programa',
    somebodyElse: 'Outra pessoa, por exemplo um administrador',
  },
  events: {
    'login.succeeded': 'Sessão iniciada',
    'login.failed': 'Um início de sessão foi recusado',
    'session.ended': 'Sessão encerrada',
    'consent.given': 'Aplicativo autorizado a agir',
    'consent.withdrawn': 'Todas as permissões de um aplicativo retiradas',
    'token.issued': 'Um aplicativo obteve um token',
    'token.refreshed': 'Um aplicativo renovou seu token',
    'token.revoked': 'Um token foi revogado',
    'token.deleted': 'Token excluído',
    'refresh_token.reused': 'Um token de atualização antigo foi usado de novo',
    'authorization_code.reused': 'Um código foi usado duas vezes',
    'device_code.reused': 'Um código de dispositivo foi usado duas vezes',
    'personal_token.created': 'Token pessoal criado',
    'personal_token.edited': 'Token pessoal alterado',
    'personal_token.rotated': 'Novo valor para um token pessoal',
    'personal_token.deleted': 'Token pessoal excluído',
    'client.created': 'Aplicativo registrado',
    'client.edited': 'Aplicativo alterado',
    'client.deleted': 'Aplicativo excluído',
    'client.secret_reset': 'Novo segredo do cliente',
    'client.secret_leaked': 'Segredo do cliente vazado e invalidado',
    'client.id_reset': 'Novo ID do cliente',
    'client.verified': 'Aplicativo verificado',
    'client.unverified': 'Verificação retirada',
    'client.disabled': 'Aplicativo desativado',
    'client.enabled': 'Aplicativo reativado',
    'user.created': 'Usuário criado',
    'user.activated': 'Usuário ativado',
    'user.deactivated': 'Usuário desativado',
    'user.tokens_ended': 'Revogou todos os tokens de um usuário',
    'client.tokens_ended': 'Revogou todos os tokens de uma aplicação',
    'user.admin_granted': 'Usuário nomeado administrador',
    'user.admin_withdrawn': 'Um usuário não é mais administrador',
    'user.password_changed': 'Senha alterada',
    'user.email_verified': 'Endereço de e-mail confirmado',
    'user.deleted': 'Usuário excluído',
    'user.vanished': 'Dados de um usuário que não existe mais excluídos',
    'users.missing': 'Muitos usuários não encontrados; nada foi excluído',
    'secret_key.rotated': 'Chave secreta do servidor alterada',
    'signing_key.created': 'Nova chave de assinatura',
  },
  admin: {
    title: 'Administração',
    clients: 'Aplicativos',
    clientsAbout: 'Todos os aplicativos registrados, sejam de quem forem.',
    searchClients: 'Pesquisar aplicativos',
    searchClientsHint: 'Nome, ID do cliente ou proprietário',
    noClients: 'Nenhum aplicativo encontrado.',
    tokens: 'Tokens',
    tokensAbout: 'Todos os tokens emitidos; não é possível ver o valor deles.',
    searchTokens: 'Pesquisar tokens',
    searchTokensHint: 'E-mail, ID do cliente ou número do token',
    noTokens: 'Nenhum token encontrado.',
    search: 'Pesquisar',
    all: 'Mostrar tudo',
    activityAbout: 'Tudo o que mudou quem pode fazer o quê, do mais recente ao mais antigo.',
    event: 'Evento',
    allEvents: 'Todos os eventos',
    userHint: 'E-mail ou ID',
    noEvents: 'Nenhum evento foi encontrado.',
    routine: 'Eventos de rotina das últimas 24 horas',
    routineAbout:
      'Tokens que os aplicativos solicitaram para si mesmos, trocaram ou renovaram. Eles são contados em vez de listados.',
    routineCount: 'Quantidade',
    grantType: 'Tipo de concessão',
    token: 'Número do token',
    request: 'ID da solicitação',
    actors: {
      client: 'Um aplicativo',
      command_line: 'A linha de comando',
      system: 'O servidor',
      unknown: 'Desconhecido',
    },
    at: 'Quando',
    actor: 'Quem',
    owner: 'Proprietário',
    user: 'Usuário',
    redirectUris: 'URIs de redirecionamento',
    personal: 'Token pessoal',
    issued: 'Emitido para um aplicativo',
    verify: 'Verificar',
    unverify: 'Retirar verificação',
    disable: 'Desativar',
    enable: 'Reativar',
    delete: 'Excluir',
    deleteNamed: (name: string) => `Excluir ${name}`,
    deleteAbout:
      'O aplicativo e todos os seus tokens desaparecem imediatamente. Esta ação não pode ser desfeita.',
    confirmName: (name: string) => `Para confirmar, digite o nome dele: ${name}`,
  },
  leaked: {
    title: 'Um segredo foi exposto',
    about:
      'Cole um token, um segredo do cliente ou um código que outros possam ter visto. Você vê o que é e decide o que fazer com ele.',
    aboutAdmin:
      'Cole um token, um segredo do cliente ou um código que outros possam ter visto, de qualquer usuário ou aplicação. Você vê o que é e decide o que fazer com ele.',
    paste: 'O segredo exposto',
    pasteHint:
      'Um cabeçalho, um comando curl inteiro ou uma linha de um log também servem. O texto não é guardado nem mostrado de novo.',
    lookUp: 'Consultar',
    again: 'Consultar outro segredo',
    stale: 'A página ficou aberta por tempo demais. Cole o segredo de novo.',
    tooMany: 'Foram colados segredos desconhecidos demais. Tente de novo em um minuto.',
    kinds: {
      personal_token: 'Token pessoal',
      access_token: 'Token de acesso de',
      refresh_token: 'Token de atualização de',
      client_secret: 'Segredo do cliente de',
      authorization_code: 'Código de autorização para',
      session: 'Sessão de um navegador',
    },
    ending: 'Termina com',
    valid: 'Ainda funciona',
    ended: 'Não funciona mais',
    application: 'Aplicação',
    bound: 'Vinculado a uma chave',
    boundAbout: 'Sim: sem a chave da aplicação, é inútil.',
    history: 'O que aconteceu',
    acts: {
      end: {
        label: 'Revogar este segredo',
        about:
          'Ele para de funcionar imediatamente, e os programas que o usam perdem o acesso. Isto não pode ser desfeito.',
      },
      endSecret: {
        label: 'Revogar este segredo do cliente',
        about:
          'A aplicação não pode mais se identificar até que o proprietário crie um novo segredo.',
      },
      endSession: {
        label: 'Encerrar a sessão deste navegador',
        about: 'O navegador com esta sessão é desconectado.',
      },
      endApplication: {
        label: 'Revogar todos os tokens da aplicação',
        about:
          'A aplicação perde o acesso a todas as contas e precisa perguntar de novo a cada usuário. O segredo dela continua válido.',
      },
      revokeApplication: {
        label: 'Revogar a aplicação',
        about:
          'A aplicação perde o acesso à sua conta em todos os dispositivos e precisa perguntar a você de novo.',
      },
      endUser: {
        label: 'Revogar todos os tokens do usuário',
        about:
          'Todos os tokens pessoais do usuário param de funcionar, e todas as aplicações perdem o acesso à conta. Isto não pode ser desfeito.',
      },
      endMine: {
        label: 'Revogar todos os meus tokens',
        about:
          'Todos os seus tokens pessoais param de funcionar, e todas as aplicações perdem o acesso à sua conta. Isto não pode ser desfeito.',
      },
      disable: {
        label: 'Desativar a aplicação',
        about:
          'A aplicação e todos os seus tokens são recusados até que um administrador a ative de novo.',
      },
      logOut: {
        label: 'Encerrar todas as sessões do usuário',
        about: 'Todos os navegadores do usuário são desconectados.',
      },
      logOutElsewhere: {
        label: 'Encerrar as outras sessões',
        about: 'Todos os seus navegadores, exceto este, são desconectados.',
      },
    },
  },
  error: {
    title: 'Não foi possível concluir',
    known: {
      invalid_request: {
        what: 'O aplicativo enviou uma solicitação que não pode ser processada. Muito provavelmente o erro é do aplicativo, não seu.',
        advice:
          'Volte ao aplicativo e tente novamente. Se acontecer de novo, informe a quem o desenvolve o que está escrito abaixo.',
      },
      unauthorized_client: {
        what: 'O aplicativo não está configurado para o que tentou fazer. O erro é do aplicativo, não seu.',
        advice: 'Informe a quem o desenvolve o que está escrito abaixo.',
      },
      unsupported_response_type: {
        what: 'O aplicativo pediu algo que este servidor não oferece. O erro é do aplicativo, não seu.',
        advice: 'Informe a quem o desenvolve o que está escrito abaixo.',
      },
      invalid_scope: {
        what: 'O aplicativo pediu uma permissão que não pode ter. O erro é do aplicativo, não seu.',
        advice: 'Informe a quem o desenvolve o que está escrito abaixo.',
      },
      access_denied: {
        what: 'A permissão foi recusada. Não é erro de ninguém: o aplicativo não pode fazer nada em seu nome.',
        advice: 'Você pode fechar esta página. Se mudar de ideia, comece de novo no aplicativo.',
      },
      login_required: {
        what: 'O aplicativo quis continuar sem pedir que você entrasse, e você não entrou aqui. Nada foi feito.',
        advice: 'Volte ao aplicativo e comece de novo.',
      },
      server_error: {
        what: 'Algo deu errado do nosso lado. O erro não é seu nem do aplicativo.',
        advice: 'Volte ao aplicativo e tente novamente em alguns minutos.',
      },
      temporarily_unavailable: {
        what: 'O serviço não está disponível no momento. O erro não é seu nem do aplicativo.',
        advice: 'Volte ao aplicativo e tente novamente em alguns minutos.',
      },
    },
    unknown: {
      what: 'O aplicativo e este servidor não conseguiram se entender. Muito provavelmente o erro é do aplicativo, não seu.',
      advice:
        'Volte ao aplicativo e tente novamente. Se acontecer de novo, informe a quem o desenvolve o que está escrito abaixo.',
    },
    again: 'Volte ao aplicativo e tente novamente.',
    code: 'Código do erro',
    details: 'Detalhes',
    home: 'Ir para a página inicial',
  },
  problem: {
    staleLogout: 'Esta página ficou aberta por tempo demais. Saia novamente.',
    title: 'Não foi possível concluir',
    stale: 'Esta página ficou aberta por muito tempo. Decida novamente.',
    foreign: 'Este formulário não pertence à sua sessão. Nada foi feito.',
    loggedOut: 'Sua sessão foi encerrada. Volte ao aplicativo e comece de novo.',
    decided: 'Esta solicitação já foi respondida ou expirou. Volte ao aplicativo e comece de novo.',
    clientChanged: 'O aplicativo mudou ou já não existe. Nada foi feito.',
    notFound: 'Não há nada neste endereço.',
    notFoundTitle: 'Não encontrado',
    failed: 'Algo deu errado do nosso lado. Tente novamente mais tarde.',
    unavailable: 'O serviço não está disponível no momento. Tente novamente daqui a pouco.',
    wrongMethod: 'Este endereço não pode ser usado desta forma. Volte e tente novamente.',
    tooLarge: 'O conteúdo enviado é grande demais. Nada foi feito.',
    badRequest: 'Não é possível ler o conteúdo enviado. Nada foi feito.',
    linkInvalid: 'Este link não é mais válido ou já foi usado. Solicite um novo link.',
  },
  problems: {
    credentialMissing: 'Não há nenhum segredo neste texto. Cole o valor inteiro.',
    credentialsTooMany: 'O texto é longo demais. Cole apenas a linha com o segredo.',
    credentialUnknown:
      'Este servidor não conhece nenhum segredo deste texto, ou ele não funciona mais.',
    credentialNotYours: 'Nenhum dos seus segredos está neste texto, ou ele não funciona mais.',
    notRotatable:
      'Este token tem uma permissão que só o próprio serviço concede; por isso, não pode receber um novo valor aqui.',
    changedMeanwhile: 'O aplicativo mudou desde que esta página foi aberta. Verifique-o novamente.',
    atWork:
      'Este formulário foi enviado duas vezes e ainda está sendo processado. Veja a página novamente em instantes.',
    nameMissing: 'Digite um nome.',
    nameTooLong: (limit: number) => `O nome não pode ter mais de ${limit} caracteres.`,
    unseenCharacter: 'Contém um caractere invisível. Digite o texto em vez de colá-lo.',
    tooManyMarks: 'Há sinais demais sobre uma mesma letra.',
    descriptionTooLong: (limit: number) => `A descrição não pode ter mais de ${limit} caracteres.`,
    websiteInvalid: 'Digite um endereço que comece com https:// ou deixe o campo vazio.',
    redirectUriTooLong: (limit: number) => `Tem mais de ${limit} caracteres.`,
    redirectUriFragment: 'Não pode conter # nem o que vem depois.',
    redirectUriResponseParameter:
      'Não pode conter um parâmetro que nossa resposta acrescenta, como code ou state.',
    redirectUriCharacter: 'Contém um caractere que um endereço não pode ter.',
    redirectUriPrivateUse:
      'Um endereço com esquema próprio só pode ser usado por aplicativos públicos, e apenas onde este servidor permite.',
    redirectUriInvalid: 'Não é um endereço completo.',
    redirectUriNotHttps:
      'Precisa começar com https://. Só no seu próprio computador pode começar com http://localhost, http://127.0.0.1 ou http://[::1].',
    tooManyClients: (limit: number) =>
      `Você pode registrar no máximo ${limit} aplicativos. Exclua um de que não precisa mais.`,
    tooManyPersonalTokens: (limit: number) =>
      `Você pode ter no máximo ${limit} tokens pessoais. Exclua um de que não precisa mais.`,
    tooManyRedirectUris: (limit: number) =>
      `Pode haver no máximo ${limit} URIs de redirecionamento.`,
    scopeUnknown: (scope: string) => `A permissão ${scope} não existe ou não pode ser escolhida.`,
    expiresInvalid: 'Digite uma data, como 2030-01-31.',
    expiresInPast: 'Escolha um dia no futuro.',
    expiresTooLate: (day: string) => `Escolha um dia que seja, no máximo, ${day}.`,
    expiresMissing: (day: string) => `Escolha um dia, no máximo até ${day}.`,
    confirmName: 'Este não é o nome. Nada foi excluído.',
    passwordWrong: 'A senha atual está incorreta.',
    passwordTooShort: (limit: number) => `A senha deve ter pelo menos ${limit} caracteres.`,
    passwordTooLong: 'A senha é longa demais.',
    overlapInvalid: 'Escolha um dos prazos oferecidos.',
    other: 'Não é possível salvar. Verifique o que você digitou.',
    stale:
      'Esta página ficou aberta por muito tempo. O que você digitou continua aqui: envie novamente.',
  },
  done: {
    credentialEnded: 'O segredo não funciona mais.',
    applicationTokensEnded: (name: string) => `Todos os tokens de “${name}” foram revogados.`,
    ownTokensEnded: 'Todos os seus tokens foram revogados.',
    userTokensEnded: (name: string) => `Todos os tokens de ${name} foram revogados.`,
    loggedOut: (name: string) => `Todas as sessões de ${name} foram encerradas.`,
    deviceRevoked: (name) => `O acesso de ${name} foi encerrado nesse dispositivo.`,
    clientCreated: 'O aplicativo está registrado.',
    clientSaved: 'As alterações foram salvas.',
    clientDeleted: (name: string) => `O aplicativo “${name}” foi excluído.`,
    secretReset: 'O aplicativo tem um novo segredo.',
    tokenCreated: 'O token foi criado.',
    tokenSaved: 'As alterações foram salvas.',
    tokenRotated: 'O token tem um novo valor.',
    tokenDeleted: (name: string) => `O token “${name}” foi excluído.`,
    revoked: (name: string) => `“${name}” não pode mais agir em seu nome.`,
    revokedAll: 'Nenhum aplicativo pode mais agir em seu nome.',
    sessionEnded: 'A sessão desse navegador foi encerrada.',
    linkSent: (email) => `Um link foi enviado para ${email}. Ele é válido por uma hora.`,
    passwordChanged: 'Sua senha foi alterada. Todos os outros navegadores foram desconectados.',
    otherSessionsEnded: 'As sessões de todos os outros navegadores foram encerradas.',
    clientVerified: (name: string) => `“${name}” aparece como verificado.`,
    clientUnverified: (name: string) => `“${name}” não aparece mais como verificado.`,
    clientDisabled: (name: string) =>
      `O aplicativo “${name}” foi desativado: ele e seus tokens são recusados.`,
    clientEnabled: (name: string) => `O aplicativo “${name}” foi reativado.`,
  },
}
