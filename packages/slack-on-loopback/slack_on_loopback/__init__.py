"""A small Slack on the loopback, with Slack's own rules and a page in the browser."""

from slack_on_loopback.config import ChannelSpec, UserSpec, WorkspaceConfig
from slack_on_loopback.errors import PersonRefusal, SlackRefusal
from slack_on_loopback.faults import CallFault
from slack_on_loopback.guide import GuideButton, GuideLine
from slack_on_loopback.oauth_server import OAuthApp, OAuthServer, run_oauth_server
from slack_on_loopback.rates import QUICK, SlackPace
from slack_on_loopback.workspace import Workspace, run_workspace, typed

__all__ = [
    "QUICK",
    "CallFault",
    "ChannelSpec",
    "GuideButton",
    "GuideLine",
    "OAuthApp",
    "OAuthServer",
    "PersonRefusal",
    "SlackPace",
    "SlackRefusal",
    "UserSpec",
    "Workspace",
    "WorkspaceConfig",
    "run_oauth_server",
    "run_workspace",
    "typed",
]
