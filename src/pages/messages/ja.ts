import { counted } from './counted.ts'
import type { Messages } from './en.ts'

const count = counted('ja')

/** Every text of the pages, in Japanese. */
export const ja: Messages = {
  frame: {
    skip: 'コンテンツにスキップ',
    navigation: 'アカウント',
    applications: 'アプリ',
    sessions: 'セッション',
    admin: '管理',
    logout: 'ログアウト',
    copy: 'コピー',
    copied: 'コピーしました',
    next: '次のページ',
    first: '最初のページ',
    pages: 'ページ',
    save: '変更を保存',
    cancel: 'キャンセル',
    line: (line, sentence) => `${line} 行目：${sentence}`,
  },
  facts: {
    clientId: 'クライアント ID',
    clientSecret: 'クライアント シークレット',
    type: '種類',
    confidential: 'コンフィデンシャル',
    public: 'パブリック',
    verified: '確認済み',
    disabled: '無効',
    expired: '期限切れ',
    created: '作成日',
    users: 'ユーザー数',
    expires: '有効期限',
    never: 'なし',
    lastUsed: '最終使用',
    neverUsed: '未使用',
    from: (address) => `${address} から`,
    owner: '登録者',
    nobody: 'なし',
    website: 'ウェブサイト',
    since: '許可日',
    permissions: '権限',
    noPermissions: 'なし（ユーザーの識別のみ）',
    otherGroup: 'その他',
    unknownBrowser: '不明なブラウザまたはプログラム',
    words: (name) => `${name} による説明：`,
  },
  login: {
    title: 'ログイン',
    email: 'メールアドレス',
    password: 'パスワード',
    submit: 'ログイン',
    wrong: 'メールアドレスまたはパスワードが正しくありません。',
    stale:
      'ページを開いてから時間が経ちすぎたか、Cookie がブロックされています。もう一度お試しください。',
    foreign: 'このフォームは別のサイトから送信されました。このページでログインしてください。',
  },
  home: {
    title: 'スタートページ',
    nobody: 'ログインしていません。',
    user: 'ログイン中のアカウント：',
    login: 'ログイン',
    applications: 'アプリと個人用トークン',
    aboutApplications:
      'アプリの登録、自分のプログラムで使うトークンの作成、自分に代わって操作することを許可したアプリの確認ができます。',
    sessions: 'セッション',
    aboutSessions: 'ログインしている場所を確認し、ほかの場所からログアウトできます。',
    admin: '管理',
    aboutAdmin: 'すべてのアプリとトークンを管理します。',
  },
  consent: {
    title: (client) => `${client} を許可しますか？`,
    asks: (client) =>
      `${client} が、あなたに代わって操作することを求めています。求めている権限は次のとおりです。`,
    nothing: (client) =>
      `${client} が、あなたが誰であるかの確認を求めています。それ以外の権限は与えられません。`,
    optional: '許可しない項目は、チェックを外すことができます。',
    user: 'ログイン中のアカウント',
    owner: '登録者',
    website: 'ウェブサイト',
    destination: '移動先',
    local: 'このコンピューター上のプログラム',
    unverified: (brand) =>
      `このアプリは ${brand} による確認を受けていません。開発元がわかっている場合にのみ許可してください。`,
    mixesAlphabets:
      'この名前には複数の文字体系の文字が混在しており、見分けにくい文字が含まれています。本当に想定している相手かどうかを確認してください。',
    lasting: '許可すると、設定の「アプリ」で取り消すまで有効です。',
    accept: '許可',
    refuse: '拒否',
  },
  applications: {
    title: 'アプリ',
    clients: {
      title: '自分のアプリ',
      about:
        '自分で登録したアプリです。アプリは、ほかのユーザーや自分に対して、このサービスで代わりに操作する許可を求めることができます。',
      none: '登録したアプリはまだありません。',
      invite:
        'アプリを登録すると、ユーザーはこのサービスのアカウントを使って、あなたのサイトやプログラムにログインできるようになります。',
      create: 'アプリを登録',
    },
    tokens: {
      title: '自分の個人用トークン',
      about:
        '自分のスクリプトやプログラムで使うキーです。各トークンは、選択した権限の範囲内で、あなたに代わって操作を行います。',
      none: '個人用トークンはまだありません。',
      invite:
        'トークンを作成すると、スクリプトやコマンドライン、ほかのプログラムから API を利用できます。',
      create: 'トークンを作成',
    },
    authorized: {
      title: '許可したアプリ',
      about:
        '許可を受けて、あなたに代わって操作できるアプリです。許可はいつでも取り消すことができます。',
      none: '代わりに操作することを許可したアプリはありません。',
      invite:
        'このサービスのアカウントでほかのサイトやプログラムにログインすると、この一覧に表示されます。',
      devices: count({ other: '# 台のデバイス' }),
      moreDevices: count({ other: 'ほか # 台のデバイス' }),
      revoke: '取り消し',
      revokeNamed: (name) => `${name} の許可の取り消し`,
      revokeAll: 'すべてのアプリの許可を取り消し',
      revokeAllAbout:
        'すべてのデバイスで、どのアプリもあなたに代わって操作できなくなります。自分の個人用トークンはそのまま残ります。',
    },
  },
  client: {
    newTitle: 'アプリの登録',
    newAbout:
      '登録したアプリは、このサービスで代わりに操作する許可をユーザーに求めることができます。アプリはクライアント ID で識別されます。',
    create: 'アプリを登録',
    name: '名前',
    nameHint: 'アプリが許可を求めるときにユーザーに表示されます。',
    description: '説明',
    descriptionHint: '省略可。アプリの機能と、権限が必要な理由を入力します。',
    website: 'ウェブサイト',
    websiteHint:
      '省略可。詳しい情報を掲載しているページの、https:// で始まるアドレスを入力します。',
    redirectUris: 'リダイレクト URI',
    redirectUrisHint:
      '1 行に 1 つずつ入力します。ユーザーは許可するかどうかを決めた後、このいずれかのアドレスに戻ります。完全に一致するアドレスで、https:// で始まる必要があります（自分のコンピューターの場合は http:// も使用できます）。',
    type: '種類',
    confidentialHint:
      'ウェブアプリなど、自分のサーバー上で動作し、シークレットを安全に保管できるアプリです。',
    publicHint:
      'スマートフォンやデスクトップのアプリ、サーバーのないページなど、ほかの人が中身を見ることができるアプリです。シークレットはありません。',
    defaultScopes: 'デフォルトの権限',
    defaultScopesHint: 'リクエストで権限が指定されていない場合に、アプリが求める権限です。',
    optionalScopes: '任意の権限',
    optionalScopesHint: 'ユーザーはこれらのチェックを外して、残りの権限だけを許可できます。',
    credentials: '認証情報',
    secretKept:
      '作成時に一度だけ表示されました。紛失した場合は、下で新しいシークレットを作成してください。',
    secretOnce:
      'クライアント シークレットを今すぐコピーしてください。表示されるのは今回だけで、再度表示することはできません。',
    previousSecret: (time) => `以前のシークレットは ${time} まで有効です。`,
    disabledAbout:
      'このアプリは管理者によって無効化されました。解除されるまで、アプリとそのトークンは拒否されます。',
    tryIt: '試してみる',
    tryItStart: 'アプリと同じようにフローを開始',
    tryItAbout:
      'ユーザーが許可するかどうかを決めるページが開きます。その後、アドレスにコードが付いた状態でリダイレクト URI に移動します。',
    tryItCurl:
      '1 分以内に、コードをアクセス トークンと交換してください。CODE の部分をコードに置き換えます。',
    tryItCurlSecret:
      '1 分以内に、コードをアクセス トークンと交換してください。CODE の部分をコードに、SECRET の部分をクライアント シークレットに置き換えます。',
    settings: '設定',
    reset: '新しいクライアント シークレット',
    resetAbout:
      'シークレットがほかの人に知られた可能性がある場合や、紛失した場合に作成してください。',
    overlap: '古いシークレットを有効にしておく期間',
    overlapHint: '古いシークレットを新しいものに置き換えるための期間です。',
    resetSubmit: '新しいシークレットを作成',
    delete: 'このアプリを削除',
    deleteAbout:
      'すべてのトークンが直ちに使えなくなります。再登録した場合は、ユーザーに改めて許可してもらう必要があります。この操作は元に戻せません。',
    confirmName: (name) => `確認のため、アプリの名前を入力してください：${name}`,
    deleteSubmit: 'アプリを削除',
  },
  token: {
    newTitle: '個人用トークンの作成',
    newAbout:
      'トークンはプログラム用のパスワードのようなものです。トークンを持つ人は誰でも、ここで許可した操作を行えます。プログラムに必要な権限だけを許可してください。',
    create: 'トークンを作成',
    name: '名前',
    nameHint: '後で見分けられるように、用途を入力します。',
    expires: '有効期限',
    expiresHint: '省略可。日付を指定しない場合、トークンは削除するまで有効です。',
    expiresLast: (day) => `${day} までの日付を選択してください。`,
    scopes: '権限',
    scopesHint:
      'このトークンを使うプログラムが、あなたに代わって行える操作です。後から変更できます。',
    noScopes: '選択できる権限はありません。このトークンは、あなたが誰であるかを示すだけです。',
    once: 'トークンを今すぐコピーしてください。表示されるのは今回だけで、再度表示することはできません。',
    value: '個人用トークン',
    curl: '試すには、コマンドラインで次のコマンドを実行します。',
    expiredAbout:
      'このトークンは期限切れのため、拒否されます。削除するか、新しいトークンを作成してください。',
    previous: (time) => `以前の値は ${time} まで有効です。`,
    settings: '設定',
    rotate: '新しい値',
    rotateAbout:
      'トークンの名前と権限はそのままで、値だけが新しくなります。値がほかの人に知られた可能性がある場合や、紛失した場合に作成してください。',
    overlap: '古い値を有効にしておく期間',
    overlapHint: '古い値を新しいものに置き換えるための期間です。',
    rotateSubmit: '新しい値を作成',
    delete: 'このトークンを削除',
    deleteAbout: 'このトークンを使うプログラムは、以後拒否されます。この操作は元に戻せません。',
    deleteSubmit: 'トークンを削除',
  },
  overlap: { none: 'なし（直ちに無効）' },
  authorization: {
    title: (client) => `${client} に許可した操作`,
    device: 'デバイス',
    ends: '未使用時の有効期限',
    permissions: '許可されている操作：',
    revoke: 'このデバイスで取り消し',
    revokeAbout:
      'このデバイスでアプリがログアウトされます。アプリは改めて許可を求めることができます。',
    revokeAll: 'すべてのデバイスで取り消し',
    revokeAllAbout:
      'すべてのデバイスでアプリがログアウトされます。アプリは改めて許可を求める必要があります。',
  },
  sessions: {
    title: 'セッション',
    about:
      'ログインしているブラウザです。心当たりのないものがある場合は、ログアウトさせてパスワードを変更してください。',
    current: 'このブラウザ',
    address: 'IP アドレス',
    since: 'ログイン日時',
    lastSeen: '最終アクセス',
    end: 'ログアウト',
    endNamed: (browser) => `${browser} からログアウト`,
    others: 'ほかのすべての場所からログアウト',
    othersAbout: 'このブラウザ以外のすべてのブラウザからログアウトします。',
    alone: 'ほかの場所ではログインしていません。',
  },
  admin: {
    title: '管理',
    clients: 'アプリ',
    clientsAbout: '登録されているすべてのアプリです。',
    searchClients: 'アプリを検索',
    searchClientsHint: '名前、クライアント ID、所有者',
    noClients: 'アプリが見つかりませんでした。',
    tokens: 'トークン',
    tokensAbout: '発行されたすべてのトークンです。値を見ることはできません。',
    searchTokens: 'トークンを検索',
    searchTokensHint: 'メールアドレス、クライアント ID、トークン番号',
    noTokens: 'トークンが見つかりませんでした。',
    search: '検索',
    all: 'すべて表示',
    acts: '管理者の操作履歴',
    actsAbout: '最近の操作を新しい順に表示しています。',
    noActs: 'まだありません。',
    at: '日時',
    actor: '実行者',
    events: {
      'client.verified': 'アプリを確認済みに設定',
      'client.unverified': 'アプリの確認済みを解除',
      'client.disabled': 'アプリを無効化',
      'client.enabled': 'アプリを有効化',
      'client.deleted': 'アプリを削除',
      'token.deleted': 'トークンを削除',
    },
    owner: '所有者',
    user: 'ユーザー',
    redirectUris: 'リダイレクト URI',
    personal: '個人用トークン',
    issued: 'アプリに発行',
    verify: '確認済みに設定',
    unverify: '確認済みを解除',
    disable: '無効化',
    enable: '有効化',
    delete: '削除',
    deleteNamed: (name) => `${name} を削除`,
    deleteAbout: 'アプリとそのすべてのトークンが直ちに削除されます。この操作は元に戻せません。',
    confirmName: (name) => `確認のため、名前を入力してください：${name}`,
  },
  error: {
    title: '処理できませんでした',
    known: {
      invalid_request: {
        what: 'アプリから送信されたリクエストは処理できません。原因はおそらくアプリ側にあり、あなたの操作ではありません。',
        advice:
          'アプリに戻って、もう一度お試しください。問題が続く場合は、下記の内容をアプリの開発元にお知らせください。',
      },
      unauthorized_client: {
        what: 'アプリは、この操作を行うように設定されていません。原因はアプリ側にあり、あなたの操作ではありません。',
        advice: '下記の内容をアプリの開発元にお知らせください。',
      },
      unsupported_response_type: {
        what: 'アプリが、このサーバーで提供していない機能を要求しました。原因はアプリ側にあり、あなたの操作ではありません。',
        advice: '下記の内容をアプリの開発元にお知らせください。',
      },
      invalid_scope: {
        what: 'アプリが、取得できない権限を要求しました。原因はアプリ側にあり、あなたの操作ではありません。',
        advice: '下記の内容をアプリの開発元にお知らせください。',
      },
      access_denied: {
        what: '許可は拒否されました。エラーではありません。アプリがあなたに代わって操作することはできません。',
        advice:
          'このページは閉じてかまいません。考えが変わった場合は、アプリからもう一度やり直してください。',
      },
      server_error: {
        what: 'サーバー側で問題が発生しました。あなたの操作やアプリが原因ではありません。',
        advice: 'アプリに戻って、数分後にもう一度お試しください。',
      },
      temporarily_unavailable: {
        what: '現在、サービスを利用できません。あなたの操作やアプリが原因ではありません。',
        advice: 'アプリに戻って、数分後にもう一度お試しください。',
      },
    },
    unknown: {
      what: 'アプリとこのサーバーの間で処理を完了できませんでした。原因はおそらくアプリ側にあり、あなたの操作ではありません。',
      advice:
        'アプリに戻って、もう一度お試しください。問題が続く場合は、下記の内容をアプリの開発元にお知らせください。',
    },
    again: 'アプリに戻って、もう一度お試しください。',
    code: 'エラーコード',
    details: '詳細',
    home: 'スタートページへ',
  },
  problem: {
    staleLogout: 'このページを開いてから時間が経ちすぎました。もう一度ログアウトしてください。',
    title: '処理できませんでした',
    stale: 'ページを開いてから時間が経ちすぎました。もう一度選択してください。',
    foreign: 'このフォームは現在のセッションのものではありません。何も実行されませんでした。',
    loggedOut: 'ログアウトしています。アプリに戻って、最初からやり直してください。',
    decided:
      'このリクエストはすでに回答済みか、期限切れです。アプリに戻って、最初からやり直してください。',
    undecided: '「許可」も「拒否」も選択されていません。前のページに戻って選択してください。',
    clientChanged: 'アプリが変更されたか、存在しません。何も実行されませんでした。',
    notFound: 'このアドレスにはページがありません。',
    notFoundTitle: '見つかりません',
    failed: 'サーバー側で問題が発生しました。後でもう一度お試しください。',
    unavailable: '現在、サービスを利用できません。しばらくしてからもう一度お試しください。',
    wrongMethod:
      'このアドレスはこの方法では利用できません。前のページに戻って、もう一度お試しください。',
    tooLarge: '送信された内容が大きすぎます。何も実行されませんでした。',
    badRequest: '送信された内容を読み取れません。何も実行されませんでした。',
  },
  problems: {
    notRotatable:
      'このトークンには、サービス自体だけが付与する権限が含まれているため、ここで新しい値を発行することはできません。',
    changedMeanwhile: 'このページを開いた後にアプリが変更されました。もう一度確認してください。',
    atWork:
      'このフォームは 2 回送信され、まだ処理中です。少し待ってからページをもう一度確認してください。',
    nameMissing: '名前を入力してください。',
    nameTooLong: (limit) => `名前は ${limit} 文字以内で入力してください。`,
    unseenCharacter: '目に見えない文字が含まれています。貼り付けずに、直接入力してください。',
    tooManyMarks: '1 つの文字に付いている記号が多すぎます。',
    descriptionTooLong: (limit) => `説明は ${limit} 文字以内で入力してください。`,
    websiteInvalid: 'https:// で始まるアドレスを入力するか、空欄のままにしてください。',
    redirectUriTooLong: (limit) => `${limit} 文字を超えています。`,
    redirectUriFragment: '「#」とそれに続く部分を含めることはできません。',
    redirectUriAnswerParameter:
      'code や state など、こちらの応答で付加されるパラメーターを含めることはできません。',
    redirectUriCharacter: 'アドレスに使用できない文字が含まれています。',
    redirectUriPrivateUse:
      '独自形式のアドレスを使用できるのは、パブリック アプリで、かつこのサーバーが許可している場合だけです。',
    redirectUriInvalid: '完全なアドレスではありません。',
    redirectUriNotHttps:
      'https:// で始まる必要があります。自分のコンピューターの場合に限り、http://localhost、http://127.0.0.1、http://[::1] で始めることができます。',
    tooManyRedirectUris: (limit) => `リダイレクト URI は ${limit} 個まで登録できます。`,
    scopeUnknown: (scope) => `権限 ${scope} は存在しないか、選択できません。`,
    expiresInvalid: '2030-01-31 のような形式で日付を入力してください。',
    expiresInPast: '未来の日付を選択してください。',
    expiresTooLate: (day) => `${day} までの日付を選択してください。`,
    expiresMissing: (day) => `${day} までの日付を選択してください。`,
    confirmName: '名前が一致しません。何も削除されませんでした。',
    overlapInvalid: '表示されている期間から選択してください。',
    other: '保存できません。入力内容を確認してください。',
    stale:
      'ページを開いてから時間が経ちすぎました。入力内容は残っていますので、もう一度送信してください。',
  },
  done: {
    deviceRevoked: (name) => `そのデバイスで${name}をログアウトさせました。`,
    clientCreated: 'アプリを登録しました。',
    clientSaved: '変更を保存しました。',
    clientDeleted: (name) => `アプリ「${name}」を削除しました。`,
    secretReset: 'アプリの新しいシークレットを作成しました。',
    tokenCreated: 'トークンを作成しました。',
    tokenSaved: '変更を保存しました。',
    tokenRotated: 'トークンの新しい値を作成しました。',
    tokenDeleted: (name) => `トークン「${name}」を削除しました。`,
    revoked: (name) => `「${name}」は、あなたに代わって操作できなくなりました。`,
    revokedAll: 'どのアプリも、あなたに代わって操作できなくなりました。',
    sessionEnded: 'そのブラウザからログアウトしました。',
    otherSessionsEnded: 'ほかのすべてのブラウザからログアウトしました。',
    clientVerified: (name) => `「${name}」が確認済みと表示されるようになりました。`,
    clientUnverified: (name) => `「${name}」は確認済みと表示されなくなりました。`,
    clientDisabled: (name) =>
      `「${name}」を無効化しました。このアプリとそのトークンは拒否されます。`,
    clientEnabled: (name) => `「${name}」を再び有効化しました。`,
  },
}
